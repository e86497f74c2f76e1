import { isIP } from 'node:net'
import { ownText } from './own-text.ts'

// String.prototype.trim would take a no-break space away, too, which is not a part of any valid host.
const trimmed = /^[ \t]*([^ \t]+)[ \t]*$/
const port = /:\d+$/
const name = /^[-A-Za-z0-9_]+(?:\.[-A-Za-z0-9_]+)*\.?$/
const endsInNumber = /\.\d+\.?$/
const bracketed = /^\[([0-9A-Fa-f:.]+)\]$/

/**
 * The form of a host that licenses are looked up by: trimmed, without port, lower-cased; brackets and a
 * trailing dot stay (product.md, "Hosts and licenses"). Valid is what Symfony's Request::getHost accepts.
 * @param host the value of a Host header, or the authority of a request target
 * @returns null where the host is invalid or empty
 */
export function normaliseHost(host: string): string | null {
  const domain = trimmed.exec(host)?.[1]?.replace(port, '')
  // The cache keeps records under it, which would keep the whole target that it was cut out of.
  return domain !== undefined && isValid(domain) ? ownText(domain.toLowerCase()) : null
}

function isValid(domain: string): boolean {
  const address = bracketed.exec(domain)?.[1]
  if (address !== undefined) return isIP(address) === 6
  return endsInNumber.test(domain) ? isIP(domain) === 4 : name.test(domain)
}
