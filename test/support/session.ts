import type { Database } from '../../src/database/database.ts'
import { fingerprintOf } from '../../src/sign-in/fingerprint.ts'
import { nameSession, type SessionToken, SessionTokens } from '../../src/sign-in/session-token.ts'

export type SessionSecrets = ConstructorParameters<typeof SessionTokens>[0]

interface Signed extends Partial<SessionToken> {
  secrets: SessionSecrets
  /** The site of the session. */
  domain: string
}

/** The cookie of a session as the server signs it, for a user, with any parts replaced. It ends within a minute. */
export async function signSession({ db }: Database, email: string, { secrets, domain, ...parts }: Signed) {
  const { id: userId, password_hash: passwordHash } = await db
    .selectFrom('users')
    .select(['id', 'password_hash'])
    .where('email', '=', email)
    .executeTakeFirstOrThrow()
  const whole = { userId, session: nameSession(), expires: Date.now() + 60_000, remembered: false, ...parts }
  const token = { fingerprint: fingerprintOf(passwordHash), ...whole }
  return `portico_session=${new SessionTokens(secrets).sign(token, domain)}`
}
