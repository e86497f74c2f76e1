import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'
import { remember } from '../bounds.ts'
import { attempt } from '../foreign-value.ts'
import { hostName, requestHost } from '../urls.ts'
import type { Exchange } from '../watch/exchange.ts'

type IsTrusted = (host: string) => boolean | Promise<boolean>

/** address: the client's address is not allowed. host: the host name is not trusted (DNS rebinding). */
type ViewerVerdict = 'allowed' | 'address' | 'host'

/** Headers in which proxies name the client. */
const addressHeaders = [
  'x-forwarded-for',
  'x-real-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'fly-client-ip',
]

/** Headers that only proxies send. */
const proxyHeader =
  /^(?:via$|cdn-loop$|(?:x-)?(?:original-)?forwarded|x-original-|x-envoy-)|(?:client|connecting|real|remote|user)-?(?:addr|ip)$/

/** Whether a text is an IP address, or a network such as 10.0.0.0/8. */
export function isNetwork(text: string): boolean {
  const [address = '', bits] = text.split('/')
  const version = isIP(address)
  return version !== 0 && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)))
}

/** Decides who may see profiles, by the client's address and the requested host name. */
export class ViewerAccess {
  readonly #addresses = new BlockList()
  readonly #isTrustedHost: IsTrusted

  /**
   * @param allow addresses and networks ("10.0.0.0/8") that have access
   * @param isTrustedHost whether a host name is the application's own; local names and IP addresses always are
   */
  constructor(allow: readonly string[], isTrustedHost: IsTrusted) {
    for (const entry of allow) this.#add(entry)
    this.#isTrustedHost = isTrustedHost
  }

  /**
   * Every address must be allowed: the socket's and all in forwarding headers. A client can add to those headers but
   * not remove what a proxy wrote, so forging them gains nothing. A proxy that does not name its client is refused.
   * @returns a promise only if isTrustedHost does
   */
  judge(raw: IncomingMessage): ViewerVerdict | Promise<ViewerVerdict> {
    if (mayLackHeaders(raw)) return 'address'
    const forwarded = forwardedAddresses(raw)
    if (forwarded.length === 0 && Object.keys(raw.headers).some(name => proxyHeader.test(name))) return 'address'
    // A closed socket has no address; the string "undefined" is never allowed.
    const addresses = [...forwarded, String(raw.socket.remoteAddress)]
    if (!addresses.every(address => this.#isAllowed(address))) return 'address'
    const hosts = [requestHost(raw), ...listOf(raw.headers['x-forwarded-host']), ...forwardedParts(raw, 'host')]
    const answers = hosts.map(host => typeof host === 'string' && this.#isKnownHost(host))
    if (answers.every(known => known === true)) return 'allowed'
    if (answers.includes(false)) return 'host'
    return Promise.all(answers.filter(answer => typeof answer !== 'boolean')).then(all =>
      all.includes(false) ? 'host' : 'allowed',
    )
  }

  #add(entry: string): void {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) this.#addresses.addAddress(address, family)
    else this.#addresses.addSubnet(address, Number(bits), family)
  }

  #isAllowed(address: string): boolean {
    const plain = address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
    const version = isIP(plain)
    return version !== 0 && this.#addresses.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }

  #isKnownHost(host: string): boolean | Promise<boolean> {
    const name = hostName(host)
    return isLocalName(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || this.#isTrustedHost(name)
  }
}

/** Whether Node may have dropped headers, such as a proxy's: it keeps maxHeadersCount or 1,000; 0 means all. */
function mayLackHeaders({ rawHeaders, socket }: IncomingMessage): boolean {
  const connection: Socket & { server?: { maxHeadersCount?: unknown } } = socket
  const maxHeadersCount = connection?.server?.maxHeadersCount
  const limit = typeof maxHeadersCount === 'number' ? maxHeadersCount : 1000
  return limit > 0 && rawHeaders.length >= 2 * limit
}

function isLocalName(name: string): boolean {
  return /^(?:[\w-]+\.)*localhost$/.test(name)
}

function forwardedAddresses(raw: IncomingMessage): string[] {
  return [...addressHeaders.flatMap(name => listOf(raw.headers[name])), ...forwardedParts(raw, 'for')].map(withoutPort)
}

/** The values of one parameter in the Forwarded header: `for=192.0.2.1;host=example.org`. */
function forwardedParts({ headers }: IncomingMessage, wanted: 'for' | 'host'): string[] {
  return listOf(headers.forwarded)
    .flatMap(hop => hop.split(';'))
    .flatMap(part => {
      const [name = '', value = ''] = part.split('=', 2)
      return name.trim().toLowerCase() === wanted ? [value.trim().replaceAll('"', '')] : []
    })
}

function listOf(header: string | string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap(line => line.split(','))
    .map(part => part.trim())
    .filter(part => part !== '')
}

function withoutPort(address: string): string {
  return address.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
}

/** Allows no empty label and nothing that could end an attribute or a header. */
const plainHost = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]+\])(?::\d+)?$/i

/**
 * Host and port for a link: from a trusted proxy's headers, else from the Host header, or if that is invalid, the local
 * address of the connection.
 */
export function reachableHost({ raw, request }: Pick<Exchange, 'raw' | 'request'>): string {
  const hosts = asksForSeveral(raw) ? [] : [attempt(() => request?.host, undefined), requestHost(raw)]
  const host = hosts.find(host => typeof host === 'string' && linkHost(host) !== null)
  if (host != null) return host
  const { localAddress, localPort } = raw.socket
  // An injected request has no connection.
  if (localAddress === undefined || localPort === undefined) return 'localhost'
  const address = localAddress.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*/, '')
  return `${isIP(address) === 6 ? `[${address}]` : address}:${localPort}`
}

/** The host if it is one for a link, or else null. */
const linkHost = remember(host => (plainHost.test(host) && URL.canParse(`http://${host}`) ? host : null), {
  most: 100,
  longest: 255,
})

function asksForSeveral({ rawHeaders }: IncomingMessage): boolean {
  return (
    rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host').length > 1
  )
}
