import { LRUCache } from 'lru-cache'
import pg from 'pg'
import { openEmbedded } from '../src/database/embedded.ts'
import type { Language, License } from '../src/entities.ts'
import { SessionTokens } from '../src/sign-in/session-token.ts'
import { type BenchDatabase, cookieSecret, environmentOf } from './bench-database.ts'

export type BenchLicense = License & { languages: Language[] }

/** Returns a cached license synchronously, so that nothing has to be awaited. */
export type FindLicense = (domain: string) => BenchLicense | null | Promise<BenchLicense | null>

/** Returns the e-mail address of the user whose session cookie this is, or null. */
export type FindVisitor = (cookies: string | undefined, domain: string) => string | null | Promise<string | null>

export interface Records {
  findLicense: FindLicense
  findVisitor: FindVisitor
}

/** Portico's own query for a single host. It loads the site's languages with the license. */
const license = `
  select licenses.*, type, (
    select coalesce(json_agg(known), '[]')
    from (
      select languages.id::text, code, languages.name
      from license_languages join languages on languages.id = license_languages.language_id
      where license_id = licenses.id order by position
    ) as known
  ) as languages
  from licenses join license_types on license_types.id = licenses.type_id
  where domain = $1 order by licenses.id limit 1`

/**
 * The lookups for the other frameworks: the same prepared query, a cache of the same size, and the same session
 * signatures as Portico. They are cheaper than Portico's, because the cache never hears of changes.
 */
export async function openRecords(database: BenchDatabase): Promise<Records> {
  const pool = await openPool(database)
  return { findLicense: licensesIn(pool), findVisitor: visitorsIn(pool) }
}

function licensesIn(pool: pg.Pool): FindLicense {
  const held = new LRUCache<string, { license: BenchLicense | null }>({ max: 100_000 })
  return domain => {
    const known = held.get(domain)
    if (known !== undefined) return known.license
    return pool
      .query<BenchLicense>({ name: 'license', text: license, values: [domain] })
      .then(({ rows: [license = null] }) => {
        held.set(domain, { license })
        return license
      })
  }
}

function visitorsIn(pool: pg.Pool): FindVisitor {
  const tokens = new SessionTokens([cookieSecret])
  const held = new LRUCache<string, { email: string | null }>({ max: 100_000 })
  return (cookies = '', domain) => {
    const value = /(?:^|; )portico_session=([^;]*)/.exec(cookies)?.[1]
    const token = value === undefined ? null : tokens.read(value, domain)
    if (token === null || token.expires <= Date.now()) return null
    const known = held.get(token.userId)
    if (known !== undefined) return known.email
    return pool
      .query<{ email: string }>({ name: 'user', text: 'select email from users where id = $1', values: [token.userId] })
      .then(({ rows: [user] }) => {
        const email = user?.email ?? null
        held.set(token.userId, { email })
        return email
      })
  }
}

async function openPool(database: BenchDatabase): Promise<pg.Pool> {
  const { DATABASE_URL, DATA_DIR = '' } = environmentOf(database)
  if (DATABASE_URL !== undefined) return new pg.Pool({ connectionString: DATABASE_URL })
  const { pool } = await openEmbedded(DATA_DIR, async () => {})
  return pool
}
