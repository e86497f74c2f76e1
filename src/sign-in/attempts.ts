import { createHmac, hkdfSync } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'
import { ServiceUnavailableHttpError } from '../errors/http-errors.ts'

export interface AttemptsOptions {
  database: Pick<Database, 'db' | 'isShared'>
  /** Servers that have the same one count together. */
  secret: string
  /** Milliseconds of a clock that never goes back; default: the process's own. */
  now?: () => number
}

interface Counter {
  attempts: number
  /** By the clock of this process. */
  expires: number
}

/** In milliseconds, from the first attempt that a counter counts. */
const period = 60_000

/** The check constraint of sign_in_attempts has the same number. */
const mostCounters = 2 ** 18

/**
 * Counts attempts by key, a minute at a time, in memory and in the table of a shared database.
 *
 * Memory and table are bounded and nothing is evicted: keys are hashed to a fixed number of counters, and an expired
 * counter is used again. Keys that share a counter are refused too soon, never too late: with 300,000 different keys in
 * a minute a counter has one or two. At most they take 20 MB of memory and as much of the table.
 *
 * A server remembers what the table said, so that a refusal costs no query until its counter expires. While the table
 * cannot be written to, each server counts for itself.
 */
export class Attempts {
  readonly #database: AttemptsOptions['database']
  readonly #secret: Buffer
  readonly #now: () => number
  readonly #counters = new Map<number, Counter>()

  constructor({ database, secret, now = () => performance.now() }: AttemptsOptions) {
    this.#database = database
    // Without a secret, somebody could choose a key that shares the counter of somebody else's.
    this.#secret = Buffer.from(hkdfSync('sha256', secret, '', 'portico sign-in attempts', 32))
    this.#now = now
  }

  /**
   * Counts an attempt.
   * @param most how many are allowed in a minute
   * @returns 0 if it is allowed, otherwise the seconds until one will be
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
      const told = { attempts, expires: this.#now() + milliseconds }
      // What was counted while the table could not be written to is not in it.
      if (attempts >= counter.attempts) Object.assign(counter, told)
      return told
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

/** @returns the attempts of the counter, and how long it counts on by the database's clock */
async function addToTable(db: Kysely<Tables>, counter: number) {
  return await db
    .insertInto('sign_in_attempts')
    .values({ counter, attempts: 1, expires_at: sql<Date>`now() + ${period} * interval '1 millisecond'` })
    .onConflict(conflict =>
      conflict.column('counter').doUpdateSet({
        attempts: sql<number>`case when sign_in_attempts.expires_at > now()
        then sign_in_attempts.attempts + 1 else 1 end`,
        // The least: a clock that was put back must not refuse for longer.
        expires_at: sql<Date>`case when sign_in_attempts.expires_at > now()
        then least(sign_in_attempts.expires_at, excluded.expires_at) else excluded.expires_at end`,
      }),
    )
    .returning(['attempts', sql<number>`(extract(epoch from expires_at - now()) * 1000)::float8`.as('milliseconds')])
    .executeTakeFirstOrThrow()
}
