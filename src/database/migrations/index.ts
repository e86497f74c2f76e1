import type { Migration } from 'kysely'
import * as records from './0001-records.ts'
import * as changeNotifications from './0002-change-notifications.ts'
import * as signIn from './0003-sign-in.ts'
import * as listIndexes from './0004-list-indexes.ts'
import * as signInAttempts from './0005-sign-in-attempts.ts'

/** All migrations, in order. Never edit a released one: add a new file. */
export const migrations: Record<string, Migration> = {
  '0001-records': records,
  '0002-change-notifications': changeNotifications,
  '0003-sign-in': signIn,
  '0004-list-indexes': listIndexes,
  '0005-sign-in-attempts': signInAttempts,
}
