import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify, { type FastifyInstance } from 'fastify'
import { listenWith } from '../server.ts'

const logger = { level: 'info', stream: { write() {} } }

/** A Fastify application with 10 hooks, 5 queries and 5 log lines, with or without the profiler. */
export default async function start({ profiled }: { profiled: boolean }) {
  const app = profiled ? await makeProfiled() : Fastify({ logger })
  fill(app)
  return listenWith(app)
}

async function makeProfiled(): Promise<FastifyInstance> {
  // Imported on demand, so that the row without the profiler loads none of it.
  const { default: profiler, profiledOptions } = await import('fastify-profiler')
  const directory = mkdtempSync(join(tmpdir(), 'profiler-bench-'))
  const app = Fastify(profiledOptions({ logger }))
  app.addHook('onClose', async () => {
    rmSync(directory, { recursive: true })
  })
  await app.register(profiler, { directory })
  return app
}

function fill(app: FastifyInstance): void {
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
    for (let query = 0; query < 5; query++) {
      // The property exists only with the profiler.
      const span = request.recorder?.span({
        kind: 'query',
        name: 'select',
        detail: 'select * from licenses where domain = $1',
      })
      await Promise.resolve()
      span?.end()
    }
    return { ok: true }
  })
}
