import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import fastq from 'fastq'

/** Argon2id (RFC 9106) of 46 MiB, one pass and one thread: what OWASP's password storage cheat sheet names first. */
const parameters = { memoryCost: 47_104, timeCost: 1, parallelism: 1 }

/** At a time: a processor is left for requests, and threads of Node's pool for what else needs them. */
const mostAtOnce = Math.min(2, Math.max(1, availableParallelism() - 1))
/** What a second or two is enough for; who comes then is asked to come again. */
const mostWaiting = 32

/** What a chosen password must measure, in characters. */
export const shortestPassword = 8
export const longestPassword = 1024

/** The hash of a password, as it is kept: with its parameters and a salt of its own. */
export async function hashPassword(password: string): Promise<string> {
  return await hash(normalise(password), parameters)
}

/** Verifies passwords, on threads of their own, few at a time. */
export class PasswordVerifier {
  /** No password's: verifying it takes as long as any other. */
  readonly #nobodys = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$${base64(16)}$${base64(32)}`
  readonly #queue = fastq.promise((attempt: Attempt) => this.#matches(attempt), mostAtOnce)

  /** Whether so many wait already that there is no sense in another one. */
  get isBusy(): boolean {
    return this.#queue.length() >= mostWaiting
  }

  /**
   * Whether a password is that of the hash.
   * @param passwordHash undefined: nobody's, which takes the same time
   */
  async verify(password: string, passwordHash: string | undefined): Promise<boolean> {
    return await this.#queue.push({ password: normalise(password), passwordHash: passwordHash ?? this.#nobodys })
  }

  async #matches({ password, passwordHash }: Attempt): Promise<boolean> {
    // What somebody put into the column that is no hash is nobody's, too.
    return await verify(passwordHash, password).catch(() => verify(this.#nobodys, password))
  }
}

interface Attempt {
  password: string
  passwordHash: string
}

/** One password has one form, whichever keyboard it is typed on (NIST SP 800-63B, section 3.1.1.2). */
function normalise(password: string): string {
  return password.normalize('NFKC')
}

/** Random bytes as the hash's own format writes them. */
function base64(length: number): string {
  return randomBytes(length).toString('base64').replaceAll('=', '')
}
