import t from 'tap'
import { seed } from '../../../src/database/migrate.ts'
import { addLanguage, addLicense, addLicenseType, build, openTestDatabase } from '../../support/site.ts'

t.test('the demonstration records join those that exist', async t => {
  const database = await openTestDatabase(t)
  const { db } = database
  for (const table of ['licenses', 'license_types', 'languages', 'platforms'] as const) {
    await db.deleteFrom(table).execute()
  }
  await db.schema.dropTable('portico_seeds').ifExists().execute()
  await db.schema.dropTable('portico_seeds_lock').ifExists().execute()
  await addLicenseType(database, 'demonstration')
  const german = await addLanguage(database, 'de')
  await db.insertInto('platforms').values({ name: 'web' }).execute()
  await addLicense(database, { domain: 'localhost', name: 'Mine' })
  await seed(db)
  const app = await build(t, { database })
  const ask = async (host: string) =>
    (await app.inject({ url: '/', headers: { host, accept: 'application/json' } })).json()
  t.match(await ask('localhost'), { license: { name: 'Mine' }, languages: [] })
  t.match(await ask('127.0.0.1'), { languages: [{ code: 'en' }, { code: 'de' }, { code: 'fr' }] })
  t.match(await db.selectFrom('languages').select('id').where('code', '=', 'de').execute(), [{ id: german }])
  t.equal((await db.selectFrom('licenses').select('id').where('domain', '=', 'localhost').execute()).length, 1)
})
