import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { requestHost } from '../base/request-host.ts'
import type { Exchange } from '../watch/exchange.ts'
import { attempt } from '../base/foreign-value.ts'

/** Allows no empty label and nothing that could end an attribute or a header. */
const plainHost = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]+\])(?::\d+)?$/i

/**
 * Host and port for a link: from a trusted proxy's headers, else from the Host header, or if that is invalid, the local
 * address of the connection.
 */
export function reachableHost({ raw, request }: Pick<Exchange, 'raw' | 'request'>): string {
  const hosts = asksForSeveral(raw) ? [] : [attempt(() => request?.host, undefined), requestHost(raw)]
  const host = hosts.find(isPlain)
  if (host !== undefined) return host
  const { localAddress, localPort } = raw.socket
  // An injected request has no connection.
  if (localAddress === undefined || localPort === undefined) return 'localhost'
  const address = localAddress.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*/, '')
  return `${isIP(address) === 6 ? `[${address}]` : address}:${localPort}`
}

function isPlain(host: unknown): host is string {
  return typeof host === 'string' && plainHost.test(host) && URL.canParse(`http://${host}`)
}

function asksForSeveral({ rawHeaders }: IncomingMessage): boolean {
  return (
    rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host').length > 1
  )
}
