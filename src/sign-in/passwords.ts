import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import fastq from 'fastq'

/** Argon2id (RFC 9106) with 46 MiB, one pass and one thread: OWASP's first choice (password storage cheat sheet). */
const parameters = { memoryCost: 47_104, timeCost: 1, parallelism: 1 }

/** Concurrent verifications. One processor stays free for requests, and two threads of libuv's pool for other work. */
const mostAtOnce = Math.min(2, Math.max(1, availableParallelism() - 1))
/** Waiting verifications, which together take a second or two. Further attempts are refused. */
const mostWaiting = 32

/** The length of new passwords, in characters. */
export const shortestPassword = 8
export const longestPassword = 1024

/** Hashes a password with a new salt. The hash contains the salt and the parameters. */
export async function hashPassword(password: string): Promise<string> {
  return await hash(normalise(password), parameters)
}

/** Verifies passwords on other threads, a few at a time. */
export class PasswordVerifier {
  /** A hash that no password matches. Verifying it takes as long as any other. */
  readonly #unmatched =
    `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}` +
    `$${base64(16)}$${base64(32)}`
  readonly #queue = fastq.promise((attempt: Attempt) => this.#matches(attempt), mostAtOnce)

  get isBusy(): boolean {
    return this.#queue.length() >= mostWaiting
  }

  /**
   * Whether a password matches a hash.
   * @param passwordHash undefined if there is no such user, which takes the same time and never matches
   */
  async verify(password: string, passwordHash: string | undefined): Promise<boolean> {
    return await this.#queue.push({ password: normalise(password), passwordHash: passwordHash ?? this.#unmatched })
  }

  async #matches({ password, passwordHash }: Attempt): Promise<boolean> {
    // A malformed hash in the database matches no password, after the same time.
    return await verify(passwordHash, password).catch(() => verify(this.#unmatched, password))
  }
}

interface Attempt {
  password: string
  passwordHash: string
}

/** Normalises a password, so that the keyboard does not matter (NIST SP 800-63B, section 3.1.1.2). */
function normalise(password: string): string {
  return password.normalize('NFKC')
}

/** Random bytes in the hash format's base64, which has no padding. */
function base64(length: number): string {
  return randomBytes(length).toString('base64').replaceAll('=', '')
}
