// What the package `portico` exports to applications that are built on it: see docs/building.md. Modules are exported
// as a whole if applications extend their interfaces by declaration merging, which needs that.
import './plugins/access.ts'
import './plugins/bearer.ts'
import './plugins/database.ts'
import './plugins/entities.ts'
import './plugins/firewall.ts'
import './plugins/landmarks.ts'
import './plugins/license.ts'
import './plugins/locale.ts'
import './plugins/record-kinds.ts'
import './plugins/validity.ts'
import './plugins/vary.ts'

export type { Additions, AppOptions } from './app.ts'
export { type Config, readConfig } from './src/config.ts'
export { authorOf } from './routes/api/admission.ts'
export { forgetRecords } from './routes/api/record-routes.ts'
export { default as api } from './routes/api/index.ts'
export { default as frontPage } from './routes/front-page.ts'
export { default as language } from './routes/language.ts'
export { default as routes } from './routes/index.ts'
export { sendSitePage, type SitePage } from './routes/page.ts'

export { etagOf } from './src/http/etag.ts'
export { negotiateType } from './src/http/negotiation.ts'
export { type Content, html, Markup } from './src/pages/html.ts'
export { wordsFor } from './src/pages/words.ts'

export { Type, type Static } from 'typebox'
export { command, CommandError, flag as flagOption, text as textOption, UsageError } from './cli/command.ts'
export { type Command, listWriter, type Terminal, writeOutcome } from './cli/terminal.ts'
export { commandAuthor, settingsOf, withDatabase } from './cli/with-database.ts'
export * from './src/settings.ts'

export * from './plugins/checks.ts'
export * from './src/errors/http-errors.ts'

export { sql } from 'kysely'
export { type Database, openDatabase } from './src/database/database.ts'
export { addChangeTriggers, type Migration, type Migrations } from './src/database/migrations.ts'
export * from './src/database/tables.ts'

export { type EntityCache, type EntityMetadata, type EntitySegment, whenRead } from './src/cache/entity-cache.ts'
export * from './src/entities.ts'

export type { Author } from './src/records/audit.ts'
export * from './src/records/fields.ts'
export { groups, languages, licenses, licenseTypes, museums, platforms, users } from './src/records/kinds.ts'
export * from './src/records/record-kind.ts'
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
} from './src/records/repository.ts'
