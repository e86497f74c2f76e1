import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { signInPath } from '../../plugins/access.ts'
import { ForbiddenHttpError, type HttpError, UnauthorizedHttpError } from '../../src/errors/http-errors.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'

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
  if (request.user === null) {
    return new UnauthorizedHttpError('Sign in as an admin.', request.domain, signInPath(request), true)
  }
  return new ForbiddenHttpError(`Only admins may do this, and you are signed in as ${request.user.email}.`)
}
