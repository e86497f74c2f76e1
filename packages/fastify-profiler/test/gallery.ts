import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { deferred, profiledApp } from './profiled-app.ts'

const form = 'application/x-www-form-urlencoded'

/** An application that answers in every way, and notices when a request for /slow arrives. */
export async function gallery(t: Test): Promise<{ app: FastifyInstance; arrived: Promise<void> }> {
  const app = await profiledApp(t)
  const { promise: arrived, resolve } = deferred()
  app.addContentTypeParser(form, { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => {
    payload.resume()
    done(null, {
      title: { type: 'field', mimetype: 'text/plain', value: 'La Joconde' },
      picture: [{ type: 'file', filename: 'lisa.png', mimetype: 'image/png' }, 'odd'],
      note: { odd: true },
    })
  })
  app.all('/echo', async (request, reply) => {
    request.log.info({ body: request.body }, 'echo')
    return reply.header('x-answer', 'yes').send('ok')
  })
  app.get('/cookie', async (_request, reply) =>
    reply.header('set-cookie', ['theme=dark; Path=/; HttpOnly; Secure', 'odd']).send('ok'),
  )
  app.get('/moved', async (_request, reply) => reply.redirect('/echo'))
  app.get('/same', async (_request, reply) => reply.code(304).send())
  app.get('/fails', async () => {
    throw new Error('it broke', { cause: new TypeError('deep down') })
  })
  app.get('/hijacked', (_request, reply) => {
    reply.hijack()
    reply.raw.end('mine')
  })
  app.get('/streamed', (_request, reply) => {
    reply.hijack()
    reply.raw.write('one')
    setImmediate(() => reply.raw.end('two'))
  })
  app.get('/broken', (_request, reply) => {
    reply.hijack()
    reply.raw.write('one')
    reply.raw.destroy()
  })
  app.get('/slow', async () => {
    resolve()
    return new Promise(() => {})
  })
  return { app, arrived }
}
