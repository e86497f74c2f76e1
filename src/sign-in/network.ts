import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The network that a client controls: its IPv4 address, or the first 64 bits of its IPv6 address. All texts that are
 * not an address, such as a proxy's "unknown", count as one network.
 */
export function networkOf(address: string): string {
  // Both checks are needed: ipaddr.js accepts 127.1 as an address, and Node accepts zones that ipaddr.js rejects.
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return 'unknown'
  return ipaddr.process(address).toByteArray().slice(0, 8).join('.')
}
