import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions } from 'fastify'
import type { Test } from 'tap'
import profiler, { profiledOptions, type ProfilerOptions } from '../index.ts'
import type { Profile } from '../core/profile.ts'
import { makeFolder } from './folder.ts'

/** Discards what would go to stdout. */
const silence = { write() {} }

/** Options for Fastify's own logger, the lines that it writes, and their messages. */
export function keptLines(level: string) {
  const lines: string[] = []
  const messages: string[] = []
  const stream = {
    write(line: string) {
      lines.push(line)
      messages.push(JSON.parse(line).msg)
    },
  }
  return { lines, messages, stream, logger: { level, stream } }
}

/** A bare Fastify with the profiler. The test adds the routes. */
export async function profiledApp(
  t: Test,
  options: ProfilerOptions = {},
  server: FastifyServerOptions = {},
): Promise<FastifyInstance> {
  const app = Fastify(profiledOptions({ logger: { level: 'info', stream: silence }, ...server }))
  t.teardown(() => app.close())
  await app.register(profiler, { ...options, directory: options.directory ?? makeFolder() })
  return app
}

/** Fastify with any options, as an application makes it that registers the profiler. The test adds the routes. */
export async function plainApp(t: Test, server: object = {}): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify(server)
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder() })
  return app
}

/** A panel whose data cannot be read. */
export const sleepyPanel = {
  name: 'sleepy',
  label: 'Sleepy',
  collect: () => null,
  read() {
    throw new Error('The panel sleeps')
  },
  view: () => [],
}

/** The only profile of a URL. Fails if there are none or several. */
export async function onlyProfile(t: Test, app: FastifyInstance, url: string): Promise<Profile> {
  await app.profiler.settled()
  const { profiles } = await app.profiler.search({ url })
  t.equal(profiles.length, 1, `one profile of ${url}`)
  const profile = await app.profiler.find(profiles[0]?.token ?? '')
  if (profile === null) throw new Error(`There is no profile of ${url}.`)
  return profile
}

/** The profile of an injected request. */
export async function profileOf(app: FastifyInstance, request: InjectOptions | string): Promise<Profile> {
  const { headers } = await app.inject(request)
  const profile = await app.profiler.find(String(headers['x-debug-token']))
  if (profile === null) throw new Error('The request has no profile.')
  return profile
}

/** A page of the profiler. @param path below the profiler's base */
export async function pageOf(app: FastifyInstance, path: string, accept = 'text/html'): Promise<string> {
  return (await app.inject({ url: `/_profiler/${path}`, headers: { accept } })).body
}

/** The panel of an injected request. */
export async function panelOf(
  app: FastifyInstance,
  request: InjectOptions | string,
  panel: string,
  accept = 'text/markdown',
): Promise<string> {
  const { headers } = await app.inject(request)
  await app.profiler.settled()
  return pageOf(app, `${headers['x-debug-token']}?panel=${panel}`, accept)
}

/** Listens on a free port. @returns the origin and the port */
export async function listen(app: FastifyInstance): Promise<{ origin: string; port: number }> {
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return { origin, port: Number(new URL(origin).port) }
}

/** Sends text through its own socket. @returns everything received until the server closes */
export async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', data => {
    answer += String(data)
  })
  socket.write(text)
  await once(socket, 'close')
  return answer
}

/** Sends a GET for a path that fetch and inject would change. @returns everything received until the server closes */
export async function getRaw(port: number, path: string, headers = 'host: localhost'): Promise<string> {
  return sendRaw(port, `GET ${path} HTTP/1.1\r\n${headers}\r\nconnection: close\r\n\r\n`)
}

/** Sends text and disconnects as soon as `gone` resolves. */
export async function sendAndLeave(port: number, text: string, gone: Promise<unknown>): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  await gone
  socket.destroy()
}

/** Resolves when every request has a profile. */
export async function everythingStored(app: Pick<FastifyInstance, 'profiler'>): Promise<void> {
  while (app.profiler.pending > 0) {
    await turns()
    await app.profiler.settled()
  }
}

/** Resolves after a turn of the event loop, or after several. */
export async function turns(count = 1): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** A promise to be resolved from outside. */
export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let settle = () => {}
  const promise = new Promise<void>(resolve => {
    settle = resolve
  })
  return { promise, resolve: () => settle() }
}

/** Sends a request that goes on until the application closes: the profiles of others are then gathered. */
export async function keepBusy(app: FastifyInstance): Promise<void> {
  const { promise, resolve } = deferred()
  const { promise: begun, resolve: begin } = deferred()
  app.get('/open', async () => {
    begin()
    await promise
  })
  app.addHook('preClose', async () => resolve())
  app.inject('/open', () => {})
  await begun
}
