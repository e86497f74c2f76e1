import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { signInPath } from '../../plugins/access.ts'
import { ForbiddenHttpError, type HttpError, UnauthorizedHttpError } from '../../src/errors/http-errors.ts'

/** An onRequest hook of routes that are for admins. */
export function requireAdmin(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  reply.varyOn('Cookie')
  done(request.user?.admin === true ? undefined : notAdmin(request))
}

/** The error for somebody who is no admin and asks for what only admins are told. */
export function notAdmin(request: FastifyRequest): HttpError {
  if (request.user === null) {
    return new UnauthorizedHttpError('Sign in as an admin for this.', request.domain, signInPath(request))
  }
  return new ForbiddenHttpError(`You are signed in as ${request.user.email}, who is no admin.`)
}
