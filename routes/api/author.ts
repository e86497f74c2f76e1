import type { FastifyRequest } from 'fastify'
import type {} from '../../plugins/bearer.ts'
import type { Author } from '../../src/records/audit.ts'

/** Who makes the changes of a request. */
export function authorOf({ apiToken, user }: FastifyRequest): Author {
  return { via: 'api', user, tokenId: apiToken?.id ?? null, systemUser: null }
}
