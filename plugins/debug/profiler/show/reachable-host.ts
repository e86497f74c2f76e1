import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { requestHost } from '../base/request-host.ts'
import type { Exchange } from '../watch/exchange.ts'
import { attempt } from '../base/foreign-value.ts'

/** Nothing that could end an attribute or a header, and no empty label. */
const plainHost = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]+\])(?::\d+)?$/i

/**
 * Host and port for a link: those that a proxy forwards where Fastify trusts it, those that a request asks for, or where
 * they are invalid, those that it came to.
 */
export function reachableHost({ raw, request }: Pick<Exchange, 'raw' | 'request'>): string {
  const hosts = asksForSeveral(raw) ? [] : [attempt(() => request?.host, undefined), requestHost(raw)]
  const host = hosts.find(isPlain)
  if (host !== undefined) return host
  const { localAddress, localPort } = raw.socket
  // An injected request came to nothing.
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
