import { channel } from 'node:diagnostics_channel'
import { get, request } from 'node:http'
import t from 'tap'
import { Agent, fetch as undiciFetch, request as undiciRequest } from 'undici'
import { listen, onlyProfile, profiledApp, profileOf as requestProfile } from '../profiled-app.ts'
import { linesOf, profileOf } from './driver-app.ts'
import { standInService } from './stand-in-server.ts'

const lineOf = linesOf(import.meta.filename)

const url = await standInService(t, (request, response) => {
  if (request.url === '/broken') return response.destroy()
  response.statusCode = request.url === '/missing' ? 404 : 200
  response.setHeader(
    'seen-trace',
    `${request.headers.traceparent ?? ''} ${String(request.headers['tracestate'] ?? '')}`,
  )
  // The undici of Node 20 does not tell the size of a chunked body.
  response.setHeader('content-length', 'Mona Lisa'.length)
  response.write('Mona ')
  setTimeout(() => response.end('Lisa'), 20)
})
const { host } = new URL(url)

async function read(path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    get(url + path, response => response.on('end', resolve).resume()).on('error', reject) // with node:http
  })
}

// Or undici would use Node's own dispatcher, if fetch was called before.
const dispatcher = new Agent()
t.teardown(() => dispatcher.close())

const clients: Record<string, (path: string) => Promise<unknown>> = {
  'node:http': read,
  fetch: async path => (await fetch(url + path)).text(), // with fetch
  'undici.fetch': async path => (await undiciFetch(url + path, { dispatcher })).text(), // with undici.fetch
  'undici.request': async path => (await undiciRequest(url + path, { dispatcher })).body.text(), // with undici.request
}

t.test('what a response says of its length is no size of a body that did not come', async t => {
  const { http } = await profileOf(t, async () => {
    await fetch(url, { method: 'HEAD' })
    await undiciFetch(url, { dispatcher, method: 'HEAD' })
    const { body } = await undiciRequest(url, { dispatcher })
    for await (const part of body) if (String(part) === 'Mona ') break
  })
  t.match(http?.calls, [{ size: 0 }, { size: 0 }, { size: 5 }])
})

for (const [name, send] of Object.entries(clients)) {
  t.test(`a request of ${name} has its URL, status, size, times and caller`, async t => {
    const { http, spans } = await profileOf(t, () => send('/art?id=7&password=hunter2secret'))
    t.match(http, {
      count: 1,
      failed: 0,
      calls: [
        {
          method: 'GET',
          url: `${url}/art?id=7&password=[masked]`,
          status: 200,
          size: 9,
          error: null,
          location: { line: lineOf(`with ${name}`) },
        },
      ],
    })
    const [call] = http?.calls ?? []
    // A busy machine may block the event loop meanwhile.
    t.ok(Number(call?.duration) + Number(call?.blocked) >= 10 && Number(call?.head) <= Number(call?.duration))
    // What the page says of one call in two places is one time.
    t.ok(call?.blocked !== 0 || Math.abs(Number(call.duration) - Number(http?.duration)) < 0.01, JSON.stringify(http))
    const found = spans.filter(({ kind }) => kind === 'http')
    t.match(found, [{ name: `GET ${new URL(url).host}/art`, outcome: 'continued' }])
  })

  t.test(`a request of ${name} that fails has the error, and the application gets it`, async t => {
    let thrown: unknown
    const { http, spans } = await profileOf(t, async () => {
      await send('/missing')
      await send('/broken').catch((error: unknown) => {
        thrown = error
      })
    })
    t.ok(thrown instanceof Error)
    t.match(http, {
      count: 2,
      // A 404 only says that there is nothing.
      failed: 1,
      calls: [
        { status: 404, error: null },
        { status: null, error: /Error/ },
      ],
    })
    const names = spans.filter(({ kind }) => kind === 'http').map(span => span.name)
    t.match(names, [/\/missing 404$/, /\/broken without a response$/])
  })
}

t.test('a request that nobody awaits has its caller', async t => {
  const { http } = await profileOf(t, () => {
    void fetch(`${url}/left`).then(response => response.text()) // left alone
  })
  t.match(http?.calls, [{ status: 200, location: { line: lineOf('left alone') } }])
})

t.test('a request to what is no URL is named by its method', async t => {
  const { spans } = await profileOf(t, () => {
    request(url, { headers: { host: 'a b' } })
      .on('error', () => {})
      .destroy()
  })
  const names = spans.filter(({ kind }) => kind === 'http').map(span => span.name)
  t.match(names, ['GET without a response'])
})

t.test('a body that is never read does not keep the profile from being stored', async t => {
  const { http } = await profileOf(t, () => fetch(`${url}/unread`), { patience: 50 })
  t.match(http?.calls, [{ status: 200 }])
})

t.test('only the first of many requests are listed', async t => {
  const { http, notes, spans } = await profileOf(t, async () => {
    for (let n = 0; n < 1200; n++) {
      request(`${url}/${n}`)
        .on('error', () => {})
        .destroy()
    }
  })
  t.equal(http?.count, 1200)
  t.equal(
    spans.reduce((sum, { kind, shared }) => (kind === 'http' ? sum + (shared?.count ?? 1) : sum), 0),
    1200,
    'all count on the timeline',
  )
  t.equal(http?.calls.length, 100)
  t.match(notes, [/first 1,000 HTTP requests one by one, and later ones together/])
})

t.test('a request to an own service carries the trace, and its profile there is a child', async t => {
  const service = await profiledApp(t)
  service.get('/price', async () => 'one')
  const { origin } = await listen(service)
  const app = await profiledApp(t, { propagateTo: [origin, host] })
  const seen: Array<string | null> = []
  app.get('/run', async () => {
    await (await fetch(`${origin}/price`)).text()
    seen.push((await fetch(url)).headers.get('seen-trace'))
    get(url, response => seen.push(String(response.headers['seen-trace'])))
    seen.push((await fetch(url, { headers: { traceparent: 'its own' } })).headers.get('seen-trace'))
    const response = await undiciRequest(url, { headers: ['tracestate', 'a=b'] })
    seen.push(String(response.headers['seen-trace']))
    return 'done'
  })
  const trace = 'a'.repeat(32)
  await app.inject({ url: '/run', headers: { traceparent: `00-${trace}-${'b'.repeat(16)}-01` } })
  const { token, http } = await onlyProfile(t, app, '/run')
  const profile = await onlyProfile(t, service, '/price')
  t.equal(profile.parent, token)
  t.equal(http?.calls[0]?.token, profile.token)
  const [first, , third, fourth] = seen
  t.match(first, new RegExp(`^00-${trace}-[0-9a-f]{16}-01 fastify-profiler=${token}$`))
  t.match(third, /^its own ?$/)
  t.match(fourth, /^00-a{32}-[0-9a-f]{16}-01 a=b$/)
})

t.test('a trace without a valid parent begins with the request', async t => {
  const seen: unknown[] = []
  const run = async () => {
    seen.push((await fetch(url)).headers.get('seen-trace'))
  }
  const { token } = await profileOf(t, run, { propagateTo: [host] })
  t.match(seen, [new RegExp(`^00-[0-9a-f]{32}-[0-9a-f]{16}-01 fastify-profiler=${token}$`)])
})

t.test('a request whose headers are sent as a list carries no trace', async t => {
  const seen: unknown[] = []
  const run = () =>
    new Promise<void>((resolve, reject) => {
      const sent = get(`${url}/list`, { headers: ['Host', host] }, response => {
        seen.push(response.headers['seen-trace'])
        response.on('end', resolve).resume()
      })
      sent.on('error', reject)
      // Node 20 does not tell of it by itself.
      channel('http.client.request.created').publish({ request: sent })
    })
  const { http } = await profileOf(t, run, { propagateTo: [host, '127.0.0.1'] })
  t.match(http?.calls, [{ status: 200 }])
  t.strictSame(seen, [''])
})

t.test('a request to anybody else carries no trace', async t => {
  const seen: Array<string | null> = []
  await profileOf(t, async () => {
    seen.push((await fetch(url)).headers.get('seen-trace'))
  })
  t.strictSame(seen, [''])
})

t.test('a header "tracestate" of others, or of wrong form, names no parent', async t => {
  const app = await profiledApp(t)
  app.get('/run', async () => 'done')
  for (const tracestate of ['fastify-profiler=<script>', 'fastify-profiler', 'other=abcdefghijkl', '=', '']) {
    t.equal((await requestProfile(app, { url: '/run', headers: { tracestate } })).parent, null, tracestate)
  }
})
