import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Store } from '../cache/store.ts'
import { endedSessions } from './ended-session.ts'
import { groupsByLicense } from './group.ts'
import { languagesByLicense } from './language.ts'
import { licensesByDomain } from './license.ts'
import { licenseTypesById } from './license-type.ts'
import { membershipsByUser } from './membership.ts'
import { museumsByLicense } from './museum.ts'
import { platformsByLicense } from './platform.ts'
import { usersById } from './user.ts'

export type Entities = ReturnType<typeof createEntities>

/** All entities, read through the store: `entities.licenses.read(domain)`, `entities.museums.read(license.id)`. */
export function createEntities(db: Kysely<Tables>, store: Store) {
  const languages = languagesByLicense(db, store)
  return {
    licenses: licensesByDomain(db, store, languages),
    licenseTypes: licenseTypesById(db, store),
    languages,
    museums: museumsByLicense(db, store),
    platforms: platformsByLicense(db, store),
    groups: groupsByLicense(db, store),
    users: usersById(db, store),
    memberships: membershipsByUser(db, store),
    endedSessions: endedSessions(db, store),
  }
}
