// What the package `portico` exports to applications that are built on it: see docs/building.md. Modules are exported
// as a whole if applications extend their interfaces by declaration merging, which needs that.
import '../plugins/access.ts'
import '../plugins/bearer.ts'
import '../plugins/database.ts'
import '../plugins/entities.ts'
import '../plugins/firewall.ts'
import '../plugins/landmarks.ts'
import '../plugins/license.ts'
import '../plugins/locale.ts'
import '../plugins/record-kinds.ts'
import '../plugins/validity.ts'
import '../plugins/vary.ts'

export type { Additions } from './additions.ts'
export { type AppOptions, buildApp } from './app.ts'
export { type Config, readConfig } from './config.ts'
export { authorOf } from '../routes/api/author.ts'
export { forgetRecords } from '../routes/api/forget-records.ts'
export { default as api } from '../routes/api/index.ts'
export { default as frontPage } from '../routes/front-page.ts'
export { default as language } from '../routes/language.ts'
export { default as routes } from '../routes/index.ts'

export * from '../plugins/verdicts.ts'
export * from './errors/http-errors.ts'

export { sql } from 'kysely'
export { type Database, openDatabase } from './database/database.ts'
export type { Migration, Migrations } from './database/migration.ts'
export { addChangeTriggers } from './database/migrations/0002-change-notifications.ts'
export { prepareQuery } from './database/prepared-queries.ts'
export * from './database/tables.ts'

export type { EntityCache } from './cache/entity-cache.ts'
export type { EntityMetadata, EntitySegment } from './cache/entity-segment.ts'
export { whenRead } from './cache/when-read.ts'
export * from './entities/entities.ts'

export type { Author } from './records/author.ts'
export * from './records/fields.ts'
export { groups } from './records/group.ts'
export { languages } from './records/language.ts'
export { licenses } from './records/license.ts'
export { licenseTypes } from './records/license-type.ts'
export { museums } from './records/museum.ts'
export { platforms } from './records/platform.ts'
export * from './records/record-kind.ts'
export {
  type AnyRecord,
  type Change,
  changeRecord,
  createRecord,
  type Filters,
  listRecords,
  type Listing,
  type Page,
  readRecord,
  removeRecord,
} from './records/repository.ts'
export { users } from './records/user.ts'
