import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Location } from 'fastify-profiler'
import { listenWith } from '../measurable.ts'

const logger = { level: 'info', stream: { write() {} } }

/** Finds the line that called a function, as drivers do for each query. */
type FindCaller = (below: (request: FastifyRequest) => Promise<void>) => Location | null

/** A Fastify application with 10 hooks, 5 queries with callers and 5 log lines, with or without the profiler. */
export default async function start({ profiled }: { profiled: boolean }) {
  // Imported on demand, so that the row without the profiler loads none of it.
  const imported = profiled ? await import('fastify-profiler') : null
  const app = imported === null ? Fastify({ logger }) : await makeProfiled(imported)
  fill(app, imported?.findCaller ?? (() => null))
  return listenWith(app)
}

async function makeProfiled({
  default: profiler,
  profiledOptions,
}: typeof import('fastify-profiler')): Promise<FastifyInstance> {
  const directory = mkdtempSync(join(tmpdir(), 'profiler-bench-'))
  const app = Fastify(profiledOptions({ logger }))
  app.addHook('onClose', async () => {
    rmSync(directory, { recursive: true })
  })
  await app.register(profiler, { directory })
  return app
}

function fill(app: FastifyInstance, findCaller: FindCaller): void {
  async function query(request: FastifyRequest): Promise<void> {
    // The property exists only with the profiler.
    const span = request.recorder?.span({
      kind: 'query',
      name: 'select',
      detail: 'select * from licenses where domain = $1',
      location: findCaller(query),
    })
    await Promise.resolve()
    span?.end()
  }
  for (let hook = 0; hook < 4; hook++) app.addHook('onRequest', async function request() {})
  for (let hook = 0; hook < 2; hook++) {
    app.addHook('preHandler', function handler(_request, _reply, done) {
      done()
    })
  }
  for (let hook = 0; hook < 2; hook++) app.addHook('onSend', async function send() {})
  for (let hook = 0; hook < 2; hook++) {
    app.addHook('onResponse', function response(_request, _reply, done) {
      done()
    })
  }
  app.get('/', async request => {
    // Fastify adds two log lines of its own.
    for (let line = 0; line < 3; line++) request.log.info({ line }, 'line')
    for (let count = 0; count < 5; count++) await query(request)
    return { ok: true }
  })
}
