import { sql } from 'kysely'
import t from 'tap'
import { createEntities } from '../../src/entities.ts'
import { EntityCache } from '../../src/cache/entity-cache.ts'
import { addLicense, addLicenseType, heardOf, openTestDatabase } from '../support/site.ts'
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

t.test('A license type is read by its id, and its removal is seen', async t => {
  const id = await heard(addLicenseType(database, 'gallery'))
  t.strictSame(await entities.licenseTypes.read(id), { id, type: 'gallery' })
  t.ok(Object.isFrozen(entities.licenseTypes.read(id)))
  await heard(db.deleteFrom('license_types').where('id', '=', id).execute())
  t.equal(await entities.licenseTypes.read(id), null)
  t.equal(entities.licenseTypes.read(id), null, 'the absence is cached')
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

t.test('A license and the lists that belong to it are frozen, and the lists of an unknown one are empty', async t => {
  const id = await heard(addLicense(database, { domain: 'frozen.test', languages: ['nl'], museums: ['Prado'] }))
  t.ok(Object.isFrozen(await entities.licenses.read('frozen.test')))
  for (const entity of [entities.languages, entities.museums, entities.platforms, entities.groups]) {
    t.ok(Object.isFrozen(await entity.read(id)), entity.metadata.table)
    t.strictSame(await entity.read('0'), [], entity.metadata.table)
  }
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
  t.equal(queries.filter(query => query.includes('unnest')).length, 1)
  const [one, , two, ...others] = licenses
  t.match([one, two], [{ name: 'one.test' }, { name: 'two.test' }])
  t.strictSame(new Set([licenses[1], ...others]), new Set([null]))
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
