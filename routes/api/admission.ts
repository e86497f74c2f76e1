import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { unauthorized } from '../../plugins/access.ts'
import { ForbiddenHttpError, type HttpError } from '../../src/errors/http-errors.ts'
import type { Author } from '../../src/records/audit.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'
import type { Filters } from '../../src/records/repository.ts'

/** Route options that admit only admins, unless everybody may read this kind. */
export function admissionTo({ open }: RecordKind) {
  return open ? {} : { onRequest: requireAdmin }
}

/** An onRequest hook that admits only admins. */
export function requireAdmin(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  reply.varyOn('Cookie')
  done(request.user?.admin === true ? undefined : notAdmin(request))
}

/** The error for a request that only admins may make: 401 without a user, 403 with another user. */
export function notAdmin(request: FastifyRequest): HttpError {
  if (request.user === null) return unauthorized(request, 'Sign in as an admin.')
  return new ForbiddenHttpError(`Only admins may do this, and you are signed in as ${request.user.email}.`)
}

/**
 * The filters that limit everybody but admins to the records of the current license.
 * @throws {HttpError} if somebody else asks for those of another license
 */
export function scopeOf(request: FastifyRequest, asked: Filters): Filters {
  if (request.user?.admin === true) return {}
  const { id } = request.requireLicense()
  if (asked['license_id'] !== undefined && asked['license_id'] !== id) throw notAdmin(request)
  return { license_id: id }
}

/** Who makes the changes of a request. */
export function authorOf({ apiToken, user }: FastifyRequest): Author {
  return { via: 'api', user, tokenId: apiToken?.id ?? null, systemUser: null }
}
