import { AsyncResource } from 'node:async_hooks'
import { setTimeout } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { unavailable } from '../database/failures.ts'
import type { Tables } from '../database/tables.ts'
import { BloomFilter } from '../store/bloom-filter.ts'

/** How many domains are read at once. */
const pageSize = 5000
/** In milliseconds: how soon after one check the next may begin. */
const pace = 5
/** How many domains may wait for a check. */
const mostWaiting = 10_000

/**
 * What keeps a flood of made-up hosts from the database: a domain that no license is known to have is looked for with
 * all others that are asked for meanwhile, at most 200 times a second, whatever comes. That answer is the database's, so
 * that a license is found from the moment it is added, and what is known here need only be mostly true.
 */
export class KnownDomains {
  readonly #db: Kysely<Tables>
  readonly #known = new BloomFilter()
  /** What is read for all is not read in the name of the request that happens to be the first. */
  readonly #outside = new AsyncResource('KnownDomains')
  #filling: Promise<void> | undefined
  #isFilled = false
  #waiting = new Set<string>()
  #next: Promise<ReadonlySet<string>> | undefined
  /** The check that is under way, and the time after it in which there is none. */
  #checking: Promise<unknown> | undefined

  constructor (db: Kysely<Tables>) {
    this.#db = db
  }

  /** A license may have this domain from now on. */
  add (domain: string): void {
    this.#known.add(domain)
  }

  /** Whether it is worth while to look for a license of this domain. Until all domains are read it always is. */
  mayBeLicensed (domain: string): boolean | Promise<boolean> {
    if (!this.#isFilled) {
      this.#filling ??= this.#outside.runInAsyncScope(() => this.#fill()).catch(() => { this.#filling = undefined })
      return true
    }
    return this.#known.has(domain) || this.#check(domain)
  }

  /** Reads every domain, in pages, so that others get their turn. Where it fails the next request tries again. */
  async #fill (): Promise<void> {
    let last = '0'
    for (;;) {
      const page = await this.#db.selectFrom('licenses').select(['id', 'domain']).where('id', '>', last).orderBy('id').limit(pageSize).execute()
      for (const { id, domain } of page) {
        this.#known.add(domain)
        last = id
      }
      if (page.length < pageSize) break
    }
    this.#isFilled = true
  }

  async #check (domain: string): Promise<boolean> {
    if (this.#waiting.size >= mostWaiting) throw unavailable(new Error(`${mostWaiting} domains wait to be looked for already.`))
    this.#waiting.add(domain)
    this.#next ??= this.#checkWaiting()
    const isLicensed = (await this.#next).has(domain)
    if (isLicensed) this.#known.add(domain)
    return isLicensed
  }

  /** One after another, so that however many ask they take up one connection. @returns those that have a license */
  async #checkWaiting (): Promise<ReadonlySet<string>> {
    let domains: string[]
    try {
      // Where it fails those who have waited for it are refused, too: they have waited as long.
      await this.#checking
    } finally {
      domains = [...this.#waiting]
      this.#waiting = new Set()
      this.#next = undefined
    }
    const query = this.#db.selectFrom('licenses').select('domain').distinct().where('domain', '=', sql<string>`any(${domains})`).execute()
    this.#checking = Promise.all([query, setTimeout(pace)])
    this.#checking.catch(() => { this.#checking = undefined })
    const rows = await query
    return new Set(rows.map(({ domain }) => domain))
  }
}
