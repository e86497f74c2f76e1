import type { AddressInfo } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'

/** Addresses under which "localhost" reaches the server. */
const local = ['::', '::1', '0.0.0.0', '127.0.0.1']

/**
 * Calls back when the application listens.
 * @param listens gets the origin under which its own machine reaches it, or '' and the path of a socket
 */
export function whenListening(
  { server }: FastifyInstance,
  listens: (origin: string, socket: string | null) => void,
): void {
  server.once('listening', () => {
    const address = server.address()
    if (typeof address === 'string') listens('', address)
    else if (address !== null) listens(originOf(server, address), null)
  })
}

/** The origin under which a server is reached from its own machine. */
function originOf(server: FastifyInstance['server'], { address, family, port }: AddressInfo): string {
  const protocol = server instanceof TlsServer ? 'https' : 'http'
  const host = local.includes(address) ? 'localhost' : family === 'IPv6' ? `[${address}]` : address
  return `${protocol}://${host}:${port}`
}
