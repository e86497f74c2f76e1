import type { FastifyRequest } from 'fastify'

const loopback = /^(?:::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/
/** The headers by which proxies tell that they pass a request on. */
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']

/** Whether a request comes from this machine itself, as far as its address and headers tell. */
export function isLocal({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): boolean {
  return loopback.test(ip) && !proxyHeaders.some(name => name in headers)
}
