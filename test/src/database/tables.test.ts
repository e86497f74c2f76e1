import { sql } from 'kysely'
import t from 'tap'
import { addLicense, openTestDatabase } from '../../support/site.ts'

const database = await openTestDatabase(t)
const { db } = database
const id = await addLicense(database, { domain: 'museum.test', languages: ['nl', 'fy'] })
const long = 'x'.repeat(256)

const times = db.selectFrom('licenses').select(['created_at', 'updated_at']).where('id', '=', id)

t.test('A new license has the same created_at and updated_at', async t => {
  const license = await times.executeTakeFirstOrThrow()
  t.type(license.created_at, Date)
  t.strictSame(license.updated_at, license.created_at)
})

t.test('An update of a license always sets updated_at and never changes created_at', async t => {
  const before = await times.executeTakeFirstOrThrow()
  const changes = { name: 'Renamed', updated_at: new Date(0) }
  await db.updateTable('licenses').set(changes).where('id', '=', id).execute()
  const after = await times.executeTakeFirstOrThrow()
  t.ok(after.updated_at > before.updated_at)
  t.strictSame(after.created_at, before.created_at)
})

t.test("A license's languages can be swapped within a transaction", async t => {
  await db.transaction().execute(async transaction => {
    await sql`set constraints all deferred`.execute(transaction)
    await sql`update license_languages set position = 1 - position where license_id = ${id}`.execute(transaction)
  })
  const codes = await db
    .selectFrom('license_languages')
    .innerJoin('languages', 'languages.id', 'language_id')
    .select('code')
    .where('license_id', '=', id)
    .orderBy('position')
    .execute()
  t.strictSame(codes, [{ code: 'fy' }, { code: 'nl' }])
})

const someone = sql`insert into users (email, password_hash) values ('someone@museum.test', 'x') returning id`

const refused = {
  'A license without a domain': sql`insert into licenses (domain, name) values ('', 'A')`,
  'A license that ends when it begins': sql`insert into licenses (domain, name, valid_from, valid_until) values ('a.test', 'A', now(), now())`,
  'A license from the year 10000 on': sql`update licenses set valid_from = '10000-01-01T00:00Z'`,
  'A language with markup for a code': sql`insert into languages (code, name) values ('"><script>', 'English')`,
  'A duplicate language of a license': sql`insert into license_languages select license_id, language_id, 7 from license_languages`,
  'A position shared by two languages of a license': sql`update license_languages set position = 0`,
  'A platform with a name of 256 characters': sql`insert into platforms (name) values (${long})`,
  'A user whose e-mail is too short': sql`insert into users (email, password_hash) values ('a@', 'x')`,
  'An API token that is no digest': sql`with added as (${someone}) insert into api_tokens (user_id, name, hash) select id, 'ci', 'x' from added`,
  'A link to choose a password that is no digest': sql`with added as (${someone}) insert into password_resets select id, 'x', 'x', now() from added`,
  'A counter of attempts above the highest': sql`insert into sign_in_attempts (counter, attempts, expires_at) values (262144, 1, now())`,
}

for (const [name, statement] of Object.entries(refused)) {
  t.test(`${name} is refused`, async t => {
    // The classes of PostgreSQL's errors: 23 integrity constraint violation, 22 data exception.
    await t.rejects(statement.execute(db), { code: /^2[23]/ })
  })
}
