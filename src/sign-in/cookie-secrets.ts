import { randomBytes } from 'node:crypto'

/** The first one signs, all of them verify. Servers with the same first one count attempts to sign in together. */
export type CookieSecrets = readonly [string, ...string[]]

/** Without a configured secret, sign-ins end when the server restarts. */
export function cookieSecretsOf([first, ...others]: readonly string[]): CookieSecrets {
  return [first ?? randomBytes(32).toString('hex'), ...others]
}
