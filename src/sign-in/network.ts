import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * What one client of an address has for itself: the address, or of IPv6 the 64 bits of its network. Whatever is no
 * address, as a proxy's "unknown", is one network, whose clients nobody can tell apart.
 */
export function networkOf(address: string): string {
  // ipaddr.js alone would take 127.1 for an address; of a zone it takes fewer characters than Node does.
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return 'unknown'
  return ipaddr.process(address).toByteArray().slice(0, 8).join('.')
}
