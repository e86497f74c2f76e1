import proxyAddr from '@fastify/proxy-addr'
import type { FastifyRequest } from 'fastify'

const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip'] as const

export type ShowsDiagnostics = (request: FastifyRequest) => boolean

/**
 * Makes the function that says whether a request's sender may be told what lies beneath an error: with debug on,
 * senders at loopback addresses and at those of the list (product.md, "Running it").
 */
export function diagnosticsFor ({ debug, debugAllow, trustProxy }: { debug: boolean, debugAllow: string[], trustProxy: string[] }): ShowsDiagnostics {
  if (!debug) return () => false
  const isLoopback = proxyAddr.compile('loopback')
  const isAllowed = proxyAddr.compile(debugAllow)
  return request => {
    if (isAllowed(request.ip, 0)) return true
    // What a proxy nobody declared passes on comes from loopback, whoever sent it.
    return isLoopback(request.ip, 0) && (trustProxy.length > 0 || forwardingHeaders.every(header => request.headers[header] === undefined))
  }
}
