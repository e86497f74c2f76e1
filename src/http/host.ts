import { isIP } from 'node:net'
import { memoize, ownText } from './memoize.ts'

// String.prototype.trim would also remove a no-break space, which makes a host invalid.
const trimmed = /^[ \t]*([^ \t]+)[ \t]*$/
const port = /:\d+$/
const name = /^[-A-Za-z0-9_]+(?:\.[-A-Za-z0-9_]+)*\.?$/
const endsInNumber = /\.\d+\.?$/
const bracketed = /^\[([0-9A-Fa-f:.]+)\]$/

/** Most requests are for a few hosts. */
const mostKept = 1000

/**
 * Normalises a host for looking up its license: trimmed, without port, in lower case. Brackets and a trailing dot stay.
 * Accepts the hosts that Symfony's Request::getHost accepts.
 * @param host a Host header, or the authority of a request target
 * @returns null if the host is invalid or empty
 */
export const normaliseHost = memoize(normalise, mostKept)

function normalise(host: string): string | null {
  const domain = trimmed.exec(host)?.[1]?.replace(port, '')
  // The cache uses the domain as a key, and a substring would keep the whole target in memory.
  return domain !== undefined && isValid(domain) ? ownText(domain.toLowerCase()) : null
}

function isValid(domain: string): boolean {
  const address = bracketed.exec(domain)?.[1]
  if (address !== undefined) return isIP(address) === 6
  return endsInNumber.test(domain) ? isIP(domain) === 4 : name.test(domain)
}
