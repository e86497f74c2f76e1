import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import ipaddr from 'ipaddr.js'

/** Why the forwarded headers of a request are refused. */
const objections = new WeakMap<IncomingMessage, string>()
/** Requests with a Forwarded header from a sender that is not trusted. */
const ignored = new WeakSet<IncomingMessage>()

const malformed = 'The "Forwarded" header is malformed.'

/** Parameters of Forwarded, and the equivalent headers. Of several hosts or protocols the last counts. */
const counterparts = [
  { parameter: 'for', counterpart: 'x-forwarded-for', normalise: addressOf, isList: true },
  { parameter: 'host', counterpart: 'x-forwarded-host', normalise: lowerCase, isList: false },
  { parameter: 'proto', counterpart: 'x-forwarded-proto', normalise: protocolOf, isList: false },
] as const

/**
 * Makes a function that rewrites a trusted proxy's Forwarded (RFC 7239) and X-Forwarded-* headers as the X-Forwarded-*
 * headers that Fastify reads: addresses without ports, schemes in lower case, no empty elements. Identifiers that are
 * not addresses ("unknown", "_hidden") are kept.
 * @param trustProxy the addresses of trusted proxies
 */
export function forwardedReader(trustProxy: string[]): (raw: IncomingMessage) => void {
  const isTrusted = proxyAddr.compile(trustProxy)
  return raw => {
    if (!isTrusted(raw.socket.remoteAddress ?? '', 0)) {
      if (raw.headers.forwarded !== undefined) ignored.add(raw)
      return
    }
    const objection = translate(raw.headers)
    if (objection !== undefined) objections.set(raw, objection)
  }
}

/** @returns why the headers are refused; undefined if they are not */
export function objectionToForwarded(raw: IncomingMessage): string | undefined {
  return objections.get(raw)
}

/** Whether a request's Forwarded header was ignored because its sender is not trusted. */
export function isForwardedIgnored(raw: IncomingMessage): boolean {
  return ignored.has(raw)
}

function translate(headers: IncomingMessage['headers']): string | undefined {
  const hops = parseForwarded(headers.forwarded ?? '')
  if (hops === null) return malformed
  for (const { parameter, counterpart, normalise, isList } of counterparts) {
    const forwarded = hops.flatMap(hop => hop.get(parameter) ?? [])
    // A comma is legal in quotes, but would start a new element in X-Forwarded-*.
    if (forwarded.some(value => value.includes(','))) return malformed
    const stated = elementsOf(String(headers[counterpart] ?? ''))
    const [ours, theirs] = [forwarded.map(normalise), stated.map(normalise)]
    if (ours.length > 0 && theirs.length > 0 && whatCounts(ours, isList) !== whatCounts(theirs, isList)) {
      return `The "Forwarded" and "${counterpart}" headers disagree.`
    }
    const elements = theirs.length > 0 ? theirs : ours
    if (elements.length > 0 || counterpart in headers) headers[counterpart] = elements.join(', ')
  }
}

function whatCounts(elements: string[], isList: boolean): string | undefined {
  return isList ? elements.join() : elements.at(-1)
}

/** The trimmed elements of a list, without empty ones (RFC 9110, section 5.6.1.2). */
function elementsOf(list: string): string[] {
  return list.match(/[^ \t,]+(?:[ \t]+[^ \t,]+)*/g) ?? []
}

/** Converts only ASCII, because Node decodes headers as latin1, so other characters are bytes of UTF-8. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase())
}

const handshakes = new Map([
  ['ws', 'http'],
  ['wss', 'https'],
])

/** Some proxies state ws or wss for a WebSocket handshake, which is an HTTP request. */
function protocolOf(text: string): string {
  const protocol = lowerCase(text)
  return handshakes.get(protocol) ?? protocol
}

/**
 * The address of a node (RFC 7239, section 6) without quotes, port and IPv6 brackets. IPv4-mapped IPv6 addresses become
 * IPv4.
 */
function addressOf(node: string): string {
  const unquoted = node.replace(/^"(.*)"$/, '$1')
  const [, bracketed, bare] = /^\[([^\]]*)\](?::[\w.-]+)?$|^([^:]*):[\w.-]+$/.exec(unquoted) ?? []
  const address = lowerCase(bracketed ?? bare ?? unquoted)
  return ipaddr.IPv6.isValid(address) ? unmapped(address) : address
}

function unmapped(address: string): string {
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : address
}

/**
 * A parameter, its value and the separator after it. As lenient as proxies: colons and brackets need no quotes, and
 * blanks may follow a semicolon.
 */
const pair = /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=("(?:[^"\\]|\\.)*"|[^\s\p{Cc}",;=]+)[ \t]*)?([,;]|$)/uy

/** @returns the parameters of each hop, with names in lower case; null if the header is malformed */
function parseForwarded(header: string): Map<string, string>[] | null {
  const hops = []
  let hop = new Map<string, string>()
  pair.lastIndex = 0
  for (;;) {
    const [match, name, value, end] = pair.exec(header) ?? []
    if (match === undefined) return null
    if (name !== undefined && value !== undefined) {
      if (hop.has(lowerCase(name))) return null
      hop.set(lowerCase(name), unquote(value))
    }
    if (end === ';') continue
    hops.push(hop)
    if (end === '') return hops
    hop = new Map()
  }
}

function unquote(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
}
