import { performance } from 'node:perf_hooks'
import { createHmac, hkdfSync } from 'node:crypto'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'
import { ServiceUnavailableHttpError } from '../errors/http-errors.ts'

interface AttemptsOptions {
  database: Pick<Database, 'db' | 'isShared'>
  /** Servers with the same secret count together. */
  secret: string
  /** A monotonic clock in milliseconds. Default: performance.now. */
  now?: () => number
}

interface Counter {
  attempts: number
  /** A time of this process's clock. */
  expires: number
}

/** The lifetime of a counter in milliseconds, from its first attempt. */
const period = 60_000

/** The same as in the check constraint of sign_in_attempts. */
const mostCounters = 2 ** 18

/**
 * Counts attempts per key and minute, in memory and, if the database is shared, in a table.
 *
 * Keys are hashed to a fixed number of counters, and expired counters are reused, so memory and table are bounded
 * without evicting anything. Keys that share a counter are refused too early, never too late. With 300,000 different
 * keys in a minute a counter has one or two. Memory and table take at most 20 MB each.
 *
 * A server remembers the table's count, so a refusal costs no query until its counter expires. While the table cannot
 * be written to, each server counts on its own.
 */
export class Attempts {
  readonly #database: AttemptsOptions['database']
  readonly #secret: Buffer
  readonly #now: () => number
  readonly #counters = new Map<number, Counter>()

  constructor({ database, secret, now = () => performance.now() }: AttemptsOptions) {
    this.#database = database
    // Without a secret, an attacker could find a key that shares the counter of another key.
    this.#secret = Buffer.from(hkdfSync('sha256', secret, '', 'portico sign-in attempts', 32))
    this.#now = now
  }

  /**
   * Counts an attempt.
   * @param most the number of attempts allowed per minute
   * @returns 0 if the attempt is allowed, otherwise the seconds until the next one is
   */
  async add(key: string, most: number): Promise<number> {
    const number = createHmac('sha256', this.#secret).update(key).digest().readUInt32BE() % mostCounters
    const { attempts, expires } = await this.#addToCounter(number, most)
    return attempts > most ? Math.max(1, Math.ceil((expires - this.#now()) / 1000)) : 0
  }

  async #addToCounter(number: number, most: number): Promise<Counter> {
    const counter = this.#counterOf(number)
    const counted = { attempts: ++counter.attempts, expires: counter.expires }
    if (!this.#database.isShared || counted.attempts > most) return counted
    try {
      const { attempts, milliseconds } = await addToTable(this.#database.db, number)
      const shared = { attempts, expires: this.#now() + milliseconds }
      // The table's count is lower if attempts were counted while it could not be written to.
      if (attempts >= counter.attempts) Object.assign(counter, shared)
      return shared
    } catch (error) {
      if (error instanceof ServiceUnavailableHttpError) return counted
      throw error
    }
  }

  #counterOf(number: number): Counter {
    const now = this.#now()
    const counter = this.#counters.get(number)
    if (counter !== undefined && counter.expires > now) return counter
    const begun = { attempts: 0, expires: now + period }
    this.#counters.set(number, begun)
    return begun
  }
}

/** @returns the counter's attempts, and the milliseconds until it expires by the database's clock */
async function addToTable(db: Kysely<Tables>, counter: number) {
  return await db
    .insertInto('sign_in_attempts')
    .values({ counter, attempts: 1, expires_at: sql<Date>`now() + ${period} * interval '1 millisecond'` })
    .onConflict(conflict =>
      conflict.column('counter').doUpdateSet({
        attempts: sql<number>`case when sign_in_attempts.expires_at > now()
        then sign_in_attempts.attempts + 1 else 1 end`,
        // least(), so that setting the database's clock back does not prolong a refusal.
        expires_at: sql<Date>`case when sign_in_attempts.expires_at > now()
        then least(sign_in_attempts.expires_at, excluded.expires_at) else excluded.expires_at end`,
      }),
    )
    .returning(['attempts', sql<number>`(extract(epoch from expires_at - now()) * 1000)::float8`.as('milliseconds')])
    .executeTakeFirstOrThrow()
}

/**
 * The network that a client controls: its IPv4 address, or the first 64 bits of its IPv6 address. All texts that are
 * not an address, such as a proxy's "unknown", count as one network.
 */
export function networkOf(address: string): string {
  // Both checks are needed: ipaddr.js accepts 127.1 as an address, and Node accepts zones that ipaddr.js rejects.
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return 'unknown'
  return ipaddr.process(address).toByteArray().slice(0, 8).join('.')
}
