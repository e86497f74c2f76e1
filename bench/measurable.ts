import type { Server } from 'node:http'
import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'

/** A running server of a comparison. Each file in servers/ has a default export that starts one. */
export interface Measurable {
  port: number
  close: () => unknown
}

/** The process's total microseconds of CPU, and its current bytes of memory. */
export interface Usage {
  cpu: number
  memory: number
}

/** A fixed answer. */
export interface Answer {
  status: number
  /** The headers, except those that Node adds. */
  headers: Array<[name: string, value: string]>
  body: string
}

/** In milliseconds. The same as Fastify's, because Node sends it in the Keep-Alive header. */
export const keepAliveTimeout = 72_000

/** Starts a server of node:http. */
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

/** Starts a Fastify server. */
export async function listenWith(app: FastifyInstance): Promise<Measurable> {
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: Number(new URL(origin).port), close: () => app.close() }
}
