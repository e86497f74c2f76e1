import { Agent, request, type OutgoingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { fuzz } from './hostile-clients.ts'
import { Random } from './random.ts'

/** The admin who signs in. */
export const admin = { email: 'admin@museum.example', password: 'no secret: all that it guards is a show' }

interface Answer {
  status: number
  headers: NodeJS.Dict<string | string[]>
  body: string
}

/**
 * Uses a server with DEBUG=1 and the demonstration records as all kinds of clients would, until told to stop.
 * @returns the number of responses by status
 */
export async function soak(port: number, goesOn: () => boolean, lanes: number): Promise<Map<number, number>> {
  const agent = new Agent({ keepAlive: true })
  const statuses = new Map<number, number>()
  const count = (status: number) => {
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const random = new Random(lane)
      let cookie = ''
      let seed = lane * 1e6

      const ask = async (
        method: string,
        path: string,
        headers: OutgoingHttpHeaders = {},
        body?: object,
      ): Promise<Answer> => {
        const answer = await send(port, agent, method, path, { host: 'localhost', ...headers }, body)
        count(answer.status)
        return answer
      }

      const uses: ReadonlyArray<() => Promise<unknown>> = [
        () =>
          ask('GET', '/', {
            accept: 'text/html',
            'sec-fetch-mode': 'navigate',
            'accept-language': random.among(['de', 'en', 'fr']),
          }),
        () => ask('GET', '/', { cookie }),
        () =>
          ask('GET', `/${random.word()}`, {
            accept: random.among(['text/html', 'application/json']),
            'sec-fetch-mode': 'navigate',
          }),
        () => ask('GET', '/', { host: `${random.word(12)}.example` }),
        () => ask('GET', '/api/museums', { cookie }),
        () => ask('GET', '/ready'),
        async () => {
          const { headers } = await ask('GET', '/version')
          const path = new URL(String(headers['x-debug-token-link'])).pathname
          await ask(
            'GET',
            `${path}?panel=${random.among(['request', 'performance', 'exception', 'logs', 'database', 'cache'])}`,
            { accept: 'text/html' },
          )
        },
        () =>
          ask('GET', `/_profiler/search?url=${random.word(2)}`, {
            accept: random.among(['text/html', 'application/json', 'text/markdown']),
          }),
        async () => {
          // Attempts are counted by address, so each comes from another one.
          const from = `198.51.100.${random.below(256)}`
          const { headers } = await ask(
            'POST',
            '/login',
            { 'x-forwarded-for': from },
            { ...admin, ...(random.chance(0.2) && { password: 'wrong' }) },
          )
          cookie = [headers['set-cookie'] ?? cookie].flat().join().replace(/;.*/, '')
        },
        async () => {
          const added = await ask('POST', '/api/museums', { cookie }, { license_id: '1', name: random.word() })
          if (added.status !== 201) return
          const path = `/api/museums/${JSON.parse(added.body).id}`
          await ask('PATCH', path, { cookie }, { name: random.word() })
          await ask('DELETE', path, { cookie })
        },
        async () => {
          const hostile = await fuzz(port, 3, seed, 1)
          seed += 3
          const { hangs, faults, garbled, miscounted } = hostile
          if ([hangs, faults, garbled, miscounted].some(({ length }) => length > 0)) {
            throw new Error(JSON.stringify(hostile))
          }
          for (const [status, number] of hostile.statuses) for (let left = number; left > 0; left--) count(status)
        },
      ]
      // Hashing passwords is slow on purpose, so sign-ins are rare after the first.
      await uses[8]?.()
      while (goesOn()) {
        const use = random.chance(0.01) ? 8 : random.below(uses.length)
        if (use !== 8 || random.chance(0.05)) await uses[use]?.()
      }
    }),
  )
  agent.destroy()
  return statuses
}

/** Fills the store of profiles with requests: until it is full, the server's memory grows. */
export async function fill(port: number, count: number, lanes: number): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  let left = count
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (left-- > 0) await send(port, agent, 'GET', '/health', { host: 'localhost' })
    }),
  )
  agent.destroy()
}

function send(
  port: number,
  agent: Agent,
  method: string,
  path: string,
  headers: OutgoingHttpHeaders,
  body?: object,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const type = body !== undefined && { 'content-type': 'application/json' }
    request({ port, host: '127.0.0.1', agent, method, path, headers: { ...headers, ...type } }, response => {
      text(response).then(
        body => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      )
    })
      .on('error', reject)
      .end(body && JSON.stringify(body))
  })
}
