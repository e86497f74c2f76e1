import type { Migrations } from '../migration.ts'
import * as records from './0001-records.ts'
import * as changeNotifications from './0002-change-notifications.ts'
import * as signIn from './0003-sign-in.ts'
import * as listIndexes from './0004-list-indexes.ts'
import * as signInAttempts from './0005-sign-in-attempts.ts'
import * as licenseValidity from './0006-license-validity.ts'
import * as apiTokens from './0007-api-tokens.ts'
import * as passwordResets from './0008-password-resets.ts'
import * as audit from './0009-audit.ts'
import * as prefixIndexes from './0010-prefix-indexes.ts'

/** All migrations, in order. Never edit a released one: add a new file. They only add: see docs/building.md. */
export const migrations: Migrations = {
  '0001-records': records,
  '0002-change-notifications': changeNotifications,
  '0003-sign-in': signIn,
  '0004-list-indexes': listIndexes,
  '0005-sign-in-attempts': signInAttempts,
  '0006-license-validity': licenseValidity,
  '0007-api-tokens': apiTokens,
  '0008-password-resets': passwordResets,
  '0009-audit': audit,
  '0010-prefix-indexes': prefixIndexes,
}
