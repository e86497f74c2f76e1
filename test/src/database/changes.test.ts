import { type RawBuilder, sql } from 'kysely'
import t from 'tap'
import { addLanguage, addLicense, heardOf as heardOfChange, openTestDatabase } from '../../support/site.ts'

const database = await openTestDatabase(t)
const { db } = database

const heardOf = (statement: RawBuilder<unknown>) => heardOfChange(database, () => statement.execute(db))

const license = await addLicense(database, { domain: 'museum.test' })
const other = await addLicense(database, { domain: 'other.test' })
const dutch = await addLanguage(database, 'nl')
const frisian = await addLanguage(database, 'fy')
const { id: kiosk } = await db
  .insertInto('platforms')
  .values({ name: 'kiosk' })
  .returning('id')
  .executeTakeFirstOrThrow()
// Drains the notifications of the setup.
await heardOf(sql`select 1`)

/** Statements on each table, and the keys of their notifications: before and after the update. Types have none. */
const tables = [
  {
    table: 'licenses',
    keys: [' new.test', ' newer.test'],
    insert: sql`insert into licenses (domain, name) values ('new.test', 'New')`,
    update: sql`update licenses set domain = 'newer.test' where domain = 'new.test'`,
    remove: sql`delete from licenses where domain = 'newer.test'`,
  },
  {
    table: 'museums',
    keys: [` ${license}`, ` ${other}`],
    insert: sql`insert into museums (license_id, name) values (${license}, 'Louvre')`,
    update: sql`update museums set license_id = ${other} where name = 'Louvre'`,
    remove: sql`delete from museums where name = 'Louvre'`,
  },
  {
    table: 'groups',
    keys: [` ${license}`],
    insert: sql`insert into groups (license_id, name) values (${license}, 'Curators')`,
    update: sql`update groups set name = 'Guards' where name = 'Curators'`,
    remove: sql`delete from groups where name = 'Guards'`,
  },
  {
    table: 'license_languages',
    keys: [` ${license}`],
    insert: sql`insert into license_languages values (${license}, ${dutch}, 0)`,
    update: sql`update license_languages set language_id = ${frisian} where license_id = ${license}`,
    remove: sql`delete from license_languages where license_id = ${license}`,
  },
  {
    table: 'license_platforms',
    keys: [` ${license}`, ` ${other}`],
    insert: sql`insert into license_platforms values (${license}, ${kiosk})`,
    update: sql`update license_platforms set license_id = ${other} where license_id = ${license}`,
    remove: sql`delete from license_platforms where license_id = ${other}`,
  },
  {
    table: 'license_types',
    keys: [''],
    insert: sql`insert into license_types (type) values ('new')`,
    update: sql`update license_types set type = 'newer' where type = 'new'`,
    remove: sql`delete from license_types where type = 'newer'`,
  },
  {
    table: 'languages',
    keys: [''],
    insert: sql`insert into languages (code, name) values ('la', 'Latin')`,
    update: sql`update languages set name = 'Latina' where code = 'la'`,
    remove: sql`delete from languages where code = 'la'`,
  },
  {
    table: 'platforms',
    keys: [''],
    insert: sql`insert into platforms (name) values ('radio')`,
    update: sql`update platforms set name = 'wireless' where name = 'radio'`,
    remove: sql`delete from platforms where name = 'wireless'`,
  },
]

for (const { table, keys, insert, update, remove } of tables) {
  t.test(`Each change of ${table} sends notifications for the keys before and after`, async t => {
    const heard = keys.map(key => table + key)
    t.strictSame(await heardOf(insert), heard.slice(0, 1))
    t.strictSame(await heardOf(update), heard)
    t.strictSame(await heardOf(remove), heard.slice(-1))
  })
}

t.test('Deleting a license sends a notification for everything deleted with it', async t => {
  const id = await addLicense(database, { domain: 'closed.test', languages: ['nl'], museums: ['Closed'] })
  await sql`insert into groups (license_id, name) values (${id}, 'Ghosts')`.execute(db)
  await heardOf(sql`insert into license_platforms values (${id}, ${kiosk})`)
  t.strictSame(await heardOf(sql`delete from licenses where id = ${id}`), [
    `groups ${id}`,
    `license_languages ${id}`,
    `license_platforms ${id}`,
    'licenses closed.test',
    `museums ${id}`,
  ])
})

t.test('A statement sends one notification per key', async t => {
  const values = sql`(${license}, 'A'), (${other}, 'B'), (${license}, 'C')`
  const heard = await heardOf(sql`insert into museums (license_id, name) values ${values}`)
  t.strictSame(heard, [`museums ${license}`, `museums ${other}`].sort())
})

t.test('A statement sends notifications for up to 100 keys, or else one for the whole table', async t => {
  const add = (count: number, domain: string) =>
    sql`insert into licenses (domain, name) select n || ${domain}, 'N' from generate_series(1, ${count}::int) n`
  const heard = await heardOf(add(100, '.test'))
  t.equal(heard.length, 100)
  t.ok(heard.includes('licenses 100.test'))
  t.strictSame(await heardOf(add(101, '.many.test')), ['licenses'])
})

t.test('The longest key fits in a notification', async t => {
  const domain = 'a'.repeat(255)
  t.strictSame(await heardOf(sql`insert into licenses (domain, name) values (${domain}, 'Long')`), [
    `licenses ${domain}`,
  ])
})

t.test('A statement that changes no row sends no notification', async t => {
  t.strictSame(await heardOf(sql`delete from licenses where domain = 'nobody.test'`), [])
})

t.test('A rolled-back transaction sends no notification', async t => {
  await t.rejects(
    db.transaction().execute(async transaction => {
      await transaction.insertInto('license_types').values({ type: 'undone' }).execute()
      throw new Error('changed our mind')
    }),
    { message: 'changed our mind' },
  )
  t.strictSame(await heardOf(sql`select 1`), [])
})

for (const { table } of tables) {
  t.test(`Truncating ${table} sends a notification for the whole table`, async t => {
    const heard = await heardOf(sql`truncate ${sql.table(table)} cascade`)
    t.ok(heard.includes(table), heard.join())
  })
}
