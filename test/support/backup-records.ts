import { sql } from 'kysely'
import type { Test } from 'tap'
import type { Database } from '../../src/database/database.ts'
import { addLicense, addUser } from './site.ts'
import { commandsOn } from './run-command.ts'

/** The lines of an export. */
export async function exportLines(database: Database): Promise<string[]> {
  return (await commandsOn(database).print('export')).trimEnd().split('\n')
}

/** The lines of an export but the header, which has its time: the same for databases with the same records. */
export async function contentOf(database: Database): Promise<string[]> {
  return (await exportLines(database)).slice(1)
}

/** Removes all records and restarts their ids. */
export async function removeRecords({ db }: Database): Promise<void> {
  const tables = (await db.introspection.getTables()).filter(({ name }) => !name.startsWith('portico_'))
  await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))} restart identity cascade`.execute(db)
}

/** @returns a function that adds a test after which the database is empty again */
export function emptyingTest(t: Test, database: Database) {
  return (title: string, act: (t: Test) => unknown): void => {
    t.test(title, async t => {
      t.teardown(() => removeRecords(database))
      await act(t)
    })
  }
}

/** Replaces all records by some of each table, with odd values. */
export async function fillDatabase(database: Database): Promise<void> {
  await removeRecords(database)
  const { db } = database
  const license = await addLicense(database, {
    domain: 'museum.test',
    name: '\'"\\</script>\u2028 Müzesi 博物館 💥',
    protected: true,
    valid_until: new Date('9999-12-31T23:59:59.999Z'),
    languages: ['nl', 'fy'],
    museums: ['One', 'Two'],
  })
  await addLicense(database, { domain: 'typeless.test', type: null, suspended: true })
  await sql`update licenses set created_at = '2026-01-02T03:04:05.678901+05:30', valid_from = '0001-01-01T00:00:00.000001Z'`.execute(
    db,
  )
  // Beyond the whole numbers of JavaScript.
  await db.insertInto('platforms').values({ id: '9007199254740993', name: 'far' }).execute()
  await sql`select setval('platforms_id_seq', 9007199254740993)`.execute(db)
  await db.insertInto('license_platforms').values({ license_id: license, platform_id: '9007199254740993' }).execute()
  await addUser(database, { email: 'reader@museum.test', licenses: [license] })
  await sql`
    insert into api_tokens (user_id, name, hash, read_only, last_used_at, expires_at)
    select id, 'ci', repeat('0a', 32), true, '2026-11-23 17:00Z', 'infinity' from users`.execute(db)
  await addUser(database, { email: 'gone@museum.test' })
  await db.deleteFrom('users').where('email', '=', 'gone@museum.test').execute()
  await sql`insert into ended_sessions values ('first', 'infinity'), ('second', '0044-03-15 12:00:00.5 BC')`.execute(db)
}
