import type { Server } from 'node:http'
import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'

/** A server that is compared with others. Each is a file in servers/, whose default export starts one. */
export interface Measurable {
  port: number
  close: () => unknown
}

/** What its process has used since it began: microseconds of CPU, bytes of memory. */
export interface Usage {
  cpu: number
  memory: number
}

/** What a request is answered with, where it is known before. */
export interface Answer {
  status: number
  /** Without those that Node itself adds. */
  headers: Array<[name: string, value: string]>
  body: string
}

/** Milliseconds, as Fastify's: Node tells it in a header. */
export const keepAliveTimeout = 72_000

/** Has Node's own server listen. */
export async function listen(server: Server): Promise<Measurable> {
  server.keepAliveTimeout = keepAliveTimeout
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  return {
    port: address.port,
    close: () => {
      server.close()
    },
  }
}

/** Has Fastify listen. */
export async function listenWith(app: FastifyInstance): Promise<Measurable> {
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: Number(new URL(origin).port), close: () => app.close() }
}
