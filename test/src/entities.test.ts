import { sql } from 'kysely'
import t from 'tap'
import { createEntities } from '../../src/entities.ts'
import { EntityCache } from '../../src/cache/entity-cache.ts'
import { heardOf } from '../support/heard.ts'
import { addLanguage, addLicense, addLicenseType, addUser } from '../support/records.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { hearQueries } from '../support/sent-queries.ts'

const database = await openTestDatabase(t)
const { db, changes } = database
const cache = new EntityCache()
const entities = createEntities(db, cache)
changes.on('change', (table, key) => cache.change(table, key))

/** Waits until a change has been heard, and returns its result. */
async function heard<Result>(change: Promise<Result>): Promise<Result> {
  await heardOf(database, () => change)
  return await change
}

t.test('A license is read by its domain, with the label of its type', async t => {
  const site = { domain: 'museum.test', name: 'Louvre', type: 'museum', protected: true }
  const id = await heard(addLicense(database, site))
  const license = await entities.licenses.read('museum.test')
  t.match(license, {
    id,
    ...site,
    suspended: false,
    created_at: Date,
    updated_at: Date,
    valid_from: null,
    valid_until: null,
    type_id: await addLicenseType(database, 'museum'),
  })
})

t.test('The times of a license match its row to the millisecond, in any year', async t => {
  const type = await heard(addLicenseType(database, 'timely'))
  await heard(
    sql`
    insert into licenses (domain, name, type_id, created_at, updated_at, valid_from, valid_until)
    values ('times.test', 'Times', ${type}, '1969-12-31 23:59:59.9985+00', '12026-11-22 04:05:06.789+00',
      '0001-01-01 00:00+00', '9999-12-31 23:59:59.9995+00')`.execute(db),
  )
  const license = await entities.licenses.read('times.test')
  t.match(license, {
    created_at: new Date('1969-12-31T23:59:59.998Z'),
    updated_at: new Date('+012026-11-22T04:05:06.789Z'),
    valid_from: new Date('0001-01-01T00:00:00.000Z'),
    valid_until: new Date('9999-12-31T23:59:59.999Z'),
  })
})

t.test('A license with infinite times can be read', async t => {
  const type = await heard(addLicenseType(database, 'timely'))
  await heard(
    sql`
    insert into licenses (domain, name, type_id, created_at, updated_at)
    values ('eternal.test', 'Eternity', ${type}, '-infinity', 'infinity')`.execute(db),
  )
  const license = await entities.licenses.read('eternal.test')
  t.equal(license?.name, 'Eternity')
})

t.test('A license may have any text as its name', async t => {
  const name = 'the "Louvre", \\u0000 \n\u2028 {"id":1} \u{1F3DB}'
  await heard(addLicense(database, { domain: 'text.test', name }))
  t.match(await entities.licenses.read('text.test'), { name })
})

t.test('A license that was read is cached and frozen', async t => {
  await heard(addLicense(database, { domain: 'held.test' }))
  const license = await entities.licenses.read('held.test')
  t.equal(entities.licenses.read('held.test'), license)
  t.ok(Object.isFrozen(license))
})

t.test('The license with the lower id is read if two have the same domain', async t => {
  const lower = await heard(addLicense(database, { domain: 'twice.test', name: 'Zoo' }))
  await heard(addLicense(database, { domain: 'twice.test', name: 'Aquarium' }))
  t.match(await entities.licenses.read('twice.test'), { id: lower, name: 'Zoo' })
})

t.test('A license whose type is missing is not served, and gives way to the next with its domain', async t => {
  await heard(addLicense(database, { domain: 'typeless.test', type: null }))
  t.equal(await entities.licenses.read('typeless.test'), null)
  await heard(addLicense(database, { domain: 'typeless.test', name: 'Second' }))
  t.match(await entities.licenses.read('typeless.test'), { name: 'Second' })
})

t.test('A domain is matched whole and literally', async t => {
  await heard(addLicense(database, { domain: 'exact.test' }))
  const others = 'exact exact.test. www.exact.test EXACT.test exact% _xact.test'
  for (const domain of [...others.split(' '), "' or true --", '', 'exact.test ']) {
    t.equal(await entities.licenses.read(domain), null, JSON.stringify(domain))
  }
})

t.test('The absence of a license is cached until there is one', async t => {
  t.equal(await entities.licenses.read('new.test'), null)
  t.equal(entities.licenses.read('new.test'), null)
  await heard(addLicense(database, { domain: 'new.test', name: 'New' }))
  t.match(await entities.licenses.read('new.test'), { name: 'New' })
})

t.test('A license that changes its domain is read by the new one only', async t => {
  await heard(addLicense(database, { domain: 'here.test' }))
  await entities.licenses.read('here.test')
  await entities.licenses.read('there.test')
  await heard(db.updateTable('licenses').set({ domain: 'there.test' }).where('domain', '=', 'here.test').execute())
  t.equal(await entities.licenses.read('here.test'), null)
  t.match(await entities.licenses.read('there.test'), { domain: 'there.test' })
})

t.test("A license type's new label appears in its licenses", async t => {
  await heard(addLicense(database, { domain: 'labelled.test', type: 'before' }))
  t.match(await entities.licenses.read('labelled.test'), { type: 'before' })
  await heard(db.updateTable('license_types').set({ type: 'after' }).where('type', '=', 'before').execute())
  t.match(await entities.licenses.read('labelled.test'), { type: 'after' })
})

t.test('A license type is read by its id, and its removal is seen', async t => {
  const id = await heard(addLicenseType(database, 'gallery'))
  t.strictSame(await entities.licenseTypes.read(id), { id, type: 'gallery' })
  t.ok(Object.isFrozen(entities.licenseTypes.read(id)))
  await heard(db.deleteFrom('license_types').where('id', '=', id).execute())
  t.equal(await entities.licenseTypes.read(id), null)
  t.equal(entities.licenseTypes.read(id), null, 'the absence is cached')
})

t.test("A license's languages are read in order, the default first, and changes are seen", async t => {
  const id = await heard(addLicense(database, { domain: 'languages.test', languages: ['nl', 'de', 'fy'] }))
  t.match(await entities.languages.read(id), [{ code: 'nl', name: 'Language nl' }, { code: 'de' }, { code: 'fy' }])
  const fourth = { license_id: id, language_id: await addLanguage(database, 'la'), position: 3 }
  await heard(db.insertInto('license_languages').values(fourth).execute())
  t.match(await entities.languages.read(id), [{}, {}, {}, { code: 'la' }])
  await heard(db.updateTable('languages').set({ name: 'Nederlands' }).where('code', '=', 'nl').execute())
  t.match(await entities.languages.read(id), [{ name: 'Nederlands' }, {}, {}, {}])
})

t.test("A license's museums are sorted by name, then by id, and a change is seen", async t => {
  await heard(addLicense(database, { domain: 'other-museums.test', museums: ['Ashmolean'] }))
  const id = await heard(addLicense(database, { domain: 'museums.test', museums: ['Prado', 'Louvre', 'Prado'] }))
  const museums = await entities.museums.read(id)
  t.match(museums, [{ name: 'Louvre' }, { name: 'Prado' }, { name: 'Prado' }])
  t.ok(Number(museums[1]?.id) < Number(museums[2]?.id))
  await heard(db.updateTable('museums').set({ name: 'Uffizi' }).where('name', '=', 'Louvre').execute())
  t.match(await entities.museums.read(id), [{ name: 'Prado' }, { name: 'Prado' }, { name: 'Uffizi' }])
})

t.test("A license's platforms are sorted by name, and changes are seen", async t => {
  const id = await heard(addLicense(database, { domain: 'platforms.test' }))
  t.strictSame(await entities.platforms.read(id), [])
  const platforms = await db
    .insertInto('platforms')
    .values([{ name: 'radio' }, { name: 'kiosk' }, { name: 'unused' }])
    .returning(['id', 'name'])
    .execute()
  const links = platforms.slice(0, 2).map(platform => ({ license_id: id, platform_id: platform.id }))
  await heard(db.insertInto('license_platforms').values(links).execute())
  t.strictSame(await entities.platforms.read(id), [platforms[1], platforms[0]])
  await heard(db.updateTable('platforms').set({ name: 'cinema' }).where('name', '=', 'radio').execute())
  t.match(await entities.platforms.read(id), [{ name: 'cinema' }, { name: 'kiosk' }])
})

t.test("A license's groups are sorted by id, and a change is seen", async t => {
  const id = await heard(addLicense(database, { domain: 'groups.test' }))
  t.strictSame(await entities.groups.read(id), [])
  const groups = ['Guards', 'Curators'].map(name => ({ license_id: id, name }))
  await heard(db.insertInto('groups').values(groups).execute())
  t.match(await entities.groups.read(id), [{ name: 'Guards' }, { name: 'Curators' }])
})

t.test('The lists that belong to a license are frozen, and those of an unknown one empty', async t => {
  const id = await heard(addLicense(database, { domain: 'frozen.test', languages: ['nl'], museums: ['Prado'] }))
  for (const entity of [entities.languages, entities.museums, entities.platforms, entities.groups]) {
    t.ok(Object.isFrozen(await entity.read(id)), entity.metadata.table)
    t.strictSame(await entity.read('0'), [], entity.metadata.table)
  }
})

t.test('A user is read by id, with a fingerprint instead of the password hash, and every change is seen', async t => {
  const id = await heard(addUser(database, { email: 'user@museum.test' }))
  const user = await entities.users.read(id)
  t.match(user, { id, email: 'user@museum.test', admin: false, fingerprint: /^[\w-]{22}$/ })
  t.notMatch(JSON.stringify(user), 'argon2')
  t.ok(Object.isFrozen(user))
  t.equal(entities.users.read(id), user)
  await heard(db.updateTable('users').set({ admin: true }).where('id', '=', id).execute())
  t.match(await entities.users.read(id), { admin: true, fingerprint: user?.fingerprint })
  await heard(db.updateTable('users').set({ password_hash: 'another' }).where('id', '=', id).execute())
  t.not((await entities.users.read(id))?.fingerprint, user?.fingerprint)
  await heard(db.deleteFrom('users').where('id', '=', id).execute())
  t.equal(await entities.users.read(id), null)
})

t.test("A user's groups are read with their licenses, and every change is seen", async t => {
  const license = await heard(addLicense(database, { domain: 'members.test' }))
  const id = await heard(addUser(database, { email: 'member@museum.test', licenses: [license] }))
  const memberships = await entities.memberships.read(id)
  t.match(memberships, [{ name: 'Staff', license_id: license }])
  t.ok(Object.isFrozen(memberships))
  await heard(db.updateTable('groups').set({ name: 'Guards' }).where('license_id', '=', license).execute())
  t.match(await entities.memberships.read(id), [{ name: 'Guards' }])
  await heard(db.deleteFrom('licenses').where('id', '=', license).execute())
  t.strictSame(await entities.memberships.read(id), [])
})

t.test('Whether a session has ended is cached until it changes', async t => {
  t.equal(await entities.endedSessions.read('a session'), false)
  t.equal(entities.endedSessions.read('a session'), false)
  await heard(db.insertInto('ended_sessions').values({ session: 'a session', expires_at: new Date() }).execute())
  t.equal(await entities.endedSessions.read('a session'), true)
})

t.test("A license's languages are loaded along with it, in one query", async t => {
  const id = await heard(addLicense(database, { domain: 'along.test', languages: ['fr', 'de-CH', 'en'] }))
  const queries: string[] = []
  const stop = hearQueries(sql => queries.push(sql))
  await entities.licenses.read('along.test')
  const languages = entities.languages.read(id)
  stop()
  t.equal(queries.length, 1)
  t.notOk(languages instanceof Promise)
  entities.languages.forget(id)
  t.strictSame(await languages, await entities.languages.read(id))
  t.match(languages, [{ code: 'fr' }, { code: 'de-CH' }, { code: 'en' }])
})

t.test('The licenses of hosts that are requested together are loaded in one query', async t => {
  const hostile = [
    ...'one.test,two.test "one.test" {} {one.test,two.test} NULL \\ $1 é'.split(' '),
    "'; drop table licenses; --",
    '',
  ]
  for (const domain of ['one.test', 'two.test']) await heard(addLicense(database, { domain, name: domain }))
  const queries: string[] = []
  const stop = hearQueries(sql => queries.push(sql))
  const asked = ['one.test', 'none.test', 'two.test', ...hostile]
  const licenses = await Promise.all(asked.map(domain => entities.licenses.read(domain)))
  stop()
  t.equal(queries.filter(query => query.includes('json_array_elements_text')).length, 1)
  const [one, , two, ...others] = licenses
  t.match([one, two], [{ name: 'one.test' }, { name: 'two.test' }])
  t.strictSame(new Set([licenses[1], ...others]), new Set([null]))
})

t.test('A column can be read after its type has changed', async t => {
  const before = await heard(addLicense(database, { domain: 'before.test', museums: ['Before'] }))
  const after = await heard(addLicense(database, { domain: 'after.test', museums: ['After'] }))
  t.match(await entities.licenses.read('before.test'), { name: 'Museum' })
  t.match(await entities.museums.read(before), [{ name: 'Before' }])
  for (const table of ['licenses', 'museums']) {
    await sql`alter table ${sql.table(table)} alter column name type varchar(300)`.execute(db)
  }
  t.match(await entities.licenses.read('after.test'), { name: 'Museum' })
  t.match(await entities.museums.read(after), [{ name: 'After' }])
})

t.test("The error of a failed query has PostgreSQL's code, and the caller in its stack", async t => {
  await t.rejects(async () => await entities.licenseTypes.read('no number'), {
    code: '22P02',
    stack: /entities\.[jt]s/,
  })
})

t.test('The licenses of thousands of hosts are looked up in two queries', async t => {
  const { licenses } = createEntities(db, new EntityCache())
  await heard(addLicense(database, { domain: 'flooded.test' }))
  // Other files of the process may query meanwhile, such as for changes.
  const lookups: string[] = []
  const isAsked = new Promise<void>(resolve => {
    const hear = (sql: string) => {
      if (!sql.includes('license_types')) return
      lookups.push(sql)
      resolve()
    }
    t.teardown(hearQueries(hear))
  })
  const first = licenses.read('first.flood.test')
  await isAsked
  const flood = Array.from({ length: 5000 }, (_, n) => licenses.read(`${n}.flood.test`))
  t.match(await licenses.read('flooded.test'), { domain: 'flooded.test' })
  t.ok((await Promise.all([first, ...flood])).every(license => license === null))
  t.equal(lookups.length, 2)
})

t.test('A license whose addition was not heard is found by the first request for it', async t => {
  const { licenses } = createEntities(db, new EntityCache())
  t.equal(await licenses.read('made-up.test'), null)
  await addLicense(database, { domain: 'unheard.test' })
  t.match(await licenses.read('unheard.test'), { domain: 'unheard.test' })
})

t.test('No license is looked up while the database is unreachable', async t => {
  const { licenses } = createEntities(db, new EntityCache())
  database.availability.lose(new Error('gone'))
  await t.rejects(Promise.resolve(licenses.read('lost.test')), { name: 'ServiceUnavailableHttpError' })
  database.availability.find()
  t.equal(await licenses.read('lost.test'), null)
})
