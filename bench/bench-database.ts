import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openDatabase } from '../src/database/database.ts'
import { fingerprintOf } from '../src/sign-in/fingerprint.ts'
import { lifetimes, nameSession, SessionTokens } from '../src/sign-in/session-token.ts'
import { createDatabase, dropDatabase as dropThrowawayDatabase } from '../test/support/throwaway-database.ts'

/** The comparison's own database, in a form that is passed to the servers' processes. */
export interface BenchDatabase {
  /** Undefined for an embedded database, which each process copies. */
  url?: string
  folder: string
  /** The cookie of a user who is signed in on bench.example. */
  cookie: string
}

/** Signs the cookies. */
export const cookieSecret = 'no secret: all that it guards is a comparison'

const passwordHash = 'nobody has this password'

/** Makes a database with a user, a license for bench.example, and one for each of cold-0.example, cold-1.example, … */
export async function makeDatabase(coldHosts: number): Promise<BenchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'))
  const { BENCH_DATABASE_URL: server } = process.env
  const url = server === undefined ? undefined : await createDatabase(server, 'portico_bench_')
  const { db, close } = await openDatabase({ databaseUrl: url, dataDir: join(folder, 'template'), patient: true })
  await sql`insert into license_types (type) values ('bench')`.execute(db)
  await sql`insert into languages (code, name) values ('en-GB', 'English'), ('de-CH', 'Deutsch')`.execute(db)
  await sql`
    insert into licenses (domain, name, type_id)
    select domain, 'Museum of Speed', license_types.id
    from license_types, (
      select 'bench.example' as domain union all
      select 'cold-' || number || '.example' from generate_series(0, ${coldHosts - 1}::integer) as number
    ) as domains
    where type = 'bench'`.execute(db)
  await sql`
    insert into license_languages (license_id, language_id, position)
    select licenses.id, languages.id, languages.id
    from licenses, languages
    where licenses.name = 'Museum of Speed' and languages.code in ('en-GB', 'de-CH')`.execute(db)
  const user = { email: 'curator@bench.example', password_hash: passwordHash }
  const { id } = await db.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow()
  await sql`analyze`.execute(db)
  await close()
  return { folder, cookie: `portico_session=${signSession(id)}`, ...(url !== undefined && { url }) }
}

function signSession(userId: string): string {
  const token = {
    userId,
    session: nameSession(),
    expires: Date.now() + lifetimes.session,
    remembered: false,
    fingerprint: fingerprintOf(passwordHash),
  }
  return new SessionTokens([cookieSecret]).sign(token, 'bench.example')
}

/** The environment with which Portico uses the database. */
export function environmentOf({ url, folder }: BenchDatabase): Record<string, string> {
  const dataDir = mkdtempSync(join(folder, 'data-'))
  if (url !== undefined) return { DATABASE_URL: url, DATA_DIR: dataDir, COOKIE_SECRET: cookieSecret }
  cpSync(join(folder, 'template'), dataDir, { recursive: true })
  return { DATA_DIR: dataDir, COOKIE_SECRET: cookieSecret }
}

/** Removes the database and its folder. */
export async function dropDatabase({ url, folder }: BenchDatabase): Promise<void> {
  rmSync(folder, { recursive: true })
  if (url === undefined) return
  await dropThrowawayDatabase(url.replace(new URL(url).pathname, '/postgres'), url)
}
