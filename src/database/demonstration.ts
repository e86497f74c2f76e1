import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

const languages = [
  { code: 'en', name: 'English' },
  { code: 'de', name: 'Deutsch' },
  { code: 'fr', name: 'Français' },
]
const licenses = [
  {
    domain: 'localhost',
    name: 'Portico Demonstration',
    protected: false,
    museums: ['Museum of Doors', 'Gallery of Arches', 'House of Columns'],
  },
  { domain: '127.0.0.1', name: 'Portico by Address', protected: false, museums: ['Museum of Numbers'] },
  { domain: 'protected.localhost', name: 'Portico behind the Rope', protected: true, museums: ['The Depot'] },
]

const domains = licenses.map(({ domain }) => domain)

/**
 * Adds two open sites and a protected one, so that a first start has something to serve. A type, a language or a
 * platform that exists is used, and a domain that has a license keeps it.
 */
export async function addDemonstration(db: Kysely<Tables>): Promise<void> {
  const type = await db
    .insertInto('license_types')
    .values({ type: 'demonstration' })
    .onConflict(conflict => conflict.column('type').doUpdateSet(({ ref }) => ({ type: ref('excluded.type') })))
    .returning('id')
    .executeTakeFirstOrThrow()
  const languageIds = await db
    .insertInto('languages')
    .values(languages)
    .onConflict(conflict => conflict.column('code').doUpdateSet(({ ref }) => ({ code: ref('excluded.code') })))
    .returning('id')
    .execute()
  const platforms = await db
    .insertInto('platforms')
    .values([{ name: 'web' }, { name: 'audio guide' }])
    .onConflict(conflict => conflict.column('name').doUpdateSet(({ ref }) => ({ name: ref('excluded.name') })))
    .returning('id')
    .execute()
  const licensed = await db.selectFrom('licenses').select('domain').where('domain', 'in', domains).execute()
  for (const { museums, ...license } of licenses) {
    if (licensed.some(({ domain }) => domain === license.domain)) continue
    const { id } = await db
      .insertInto('licenses')
      .values({ ...license, type_id: type.id })
      .returning('id')
      .executeTakeFirstOrThrow()
    await db
      .insertInto('museums')
      .values(museums.map(name => ({ license_id: id, name })))
      .execute()
    await db
      .insertInto('license_languages')
      .values(languageIds.map((language, position) => ({ license_id: id, language_id: language.id, position })))
      .execute()
    await db
      .insertInto('license_platforms')
      .values(platforms.map(platform => ({ license_id: id, platform_id: platform.id })))
      .execute()
    await db.insertInto('groups').values({ license_id: id, name: 'Staff' }).execute()
  }
}
