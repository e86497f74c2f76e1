import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Limit, tellRefusal } from '../plugins/checks.ts'
import { TooManyRequestsHttpError } from '../src/errors/http-errors.ts'
import { Attempts, networkOf } from '../src/sign-in/attempts.ts'
import { PasswordVerifier } from '../src/sign-in/passwords.ts'

/**
 * Attempts per minute. One address cannot use up the attempts of an account. Several addresses can, and lock out the
 * account's owner only while they keep trying.
 */
const mostOfAddress = 20
const mostOfAccount = 40

export type SignInLimits = ReturnType<typeof signInLimits>

/** The seconds in which the waiting passwords are verified. */
const busyFor = 2

/** Limits attempts to guess a password. All routes that verify one count together. */
export function signInLimits({ database }: FastifyInstance, secret: string) {
  const attempts = new Attempts({ database, secret })
  const passwords = new PasswordVerifier()

  return {
    /** A hook that refuses further attempts of an address, before the body is read. */
    async limitAddress(request: FastifyRequest) {
      const seconds = await attempts.add(`address ${networkOf(request.ip)}`, mostOfAddress)
      if (seconds > 0) refuse(request, 'sign-in-address', seconds)
    },
    async limitAccount(request: FastifyRequest, email: string) {
      const seconds = await attempts.add(`account ${accountOf(email)}`, mostOfAccount)
      if (seconds > 0) refuse(request, 'sign-in-account', seconds)
    },
    /**
     * Whether a password matches a hash.
     * @param passwordHash undefined if there is no such user
     * @throws {TooManyRequestsHttpError} if too many passwords wait
     */
    async verifyPassword(request: FastifyRequest, password: string, passwordHash: string | undefined) {
      if (passwords.isBusy) {
        tellRefusal(request, 'sign-in-passwords')
        throw new TooManyRequestsHttpError(`Too many people are signing in. Try again in ${busyFor} seconds.`, busyFor)
      }
      return await passwords.verify(password, passwordHash)
    },
  }
}

function refuse(request: FastifyRequest, by: Limit, seconds: number): never {
  tellRefusal(request, by)
  throw new TooManyRequestsHttpError(`Too many attempts to sign in. Try again in ${seconds} seconds.`, seconds)
}

/** Normalises an address more coarsely than the database does, so that every spelling counts as the same account. */
function accountOf(email: string): string {
  return email.trim().normalize('NFKD').replace(/\p{M}/gu, '').toUpperCase()
}
