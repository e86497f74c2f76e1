import type { FastifyRequest } from 'fastify'

/** The query of a request, whatever parser the application has set for it. */
export function queryOf(request: FastifyRequest): URLSearchParams {
  const { url = '' } = request.raw
  const start = url.indexOf('?')
  return new URLSearchParams(start === -1 ? '' : url.slice(start + 1))
}
