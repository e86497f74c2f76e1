import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { EntityCache } from '../cache/entity-cache.ts'
import { apiTokensByHash } from './api-token.ts'
import { endedSessions } from './ended-session.ts'
import { groupsByLicense } from './group.ts'
import { languagesByLicense } from './language.ts'
import { licensesByDomain } from './license.ts'
import { licenseTypesById } from './license-type.ts'
import { membershipsByUser } from './membership.ts'
import { museumsByLicense } from './museum.ts'
import { platformsByLicense } from './platform.ts'
import { usersById } from './user.ts'

type PorticoEntities = ReturnType<typeof createEntities>

/** An application that is built on Portico declares its own entities here. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- An interface, so that it can be merged
export interface Entities extends PorticoEntities {}

/** Makes the entities that an application has declared. */
export type MakeOwnEntities = (db: Kysely<Tables>, cache: EntityCache) => Omit<Entities, keyof PorticoEntities>

/** All entities, read through the cache: `entities.licenses.read(domain)`, `entities.museums.read(license.id)`. */
export function createEntities(db: Kysely<Tables>, cache: EntityCache) {
  const languages = languagesByLicense(db, cache)
  return {
    licenses: licensesByDomain(db, cache, languages),
    licenseTypes: licenseTypesById(db, cache),
    languages,
    museums: museumsByLicense(db, cache),
    platforms: platformsByLicense(db, cache),
    groups: groupsByLicense(db, cache),
    users: usersById(db, cache),
    memberships: membershipsByUser(db, cache),
    endedSessions: endedSessions(db, cache),
    apiTokens: apiTokensByHash(db, cache),
  }
}
