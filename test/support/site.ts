// The site of a test: its app, its records, who is signed in, and what it is asked.
import { hash } from '@node-rs/argon2'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import type { Test } from 'tap'
import { type Additions, type AppOptions, buildApp } from '../../app.ts'
import { readConfig } from '../../src/config.ts'
import type { Database } from '../../src/database/database.ts'
import { allSeriesWith, migrate } from '../../src/database/migrate.ts'
import { makeFolder } from './folder.ts'
import { openTestDatabase } from './test-database.ts'

export { openTestDatabase }

export interface BuildOptions extends Omit<AppOptions, 'config'> {
  /** Environment variables that configure the app. */
  environment?: Record<string, string>
}

/** The same for all apps: with a random one, keys of attempts to sign in would share a counter now and then. */
const COOKIE_SECRET = 'the cookie secret of all apps of the tests'

/** Builds the app as it is served, and closes it after the test. */
export async function build(t: Test, { environment = {}, ...options }: BuildOptions): Promise<FastifyInstance> {
  const config = readConfig({ DATA_DIR: makeFolder(t), COOKIE_SECRET, ...environment })
  const app = await buildApp({ config, variables: environment, ...options })
  t.teardown(() => app.close())
  return app
}

export interface LicenseRecord {
  domain: string
  name?: string
  protected?: boolean
  suspended?: boolean
  valid_from?: Date | null
  valid_until?: Date | null
  /** Null for a license whose type is missing. */
  type?: string | null
  /** Language tags, the default first. */
  languages?: string[]
  museums?: string[]
}

/** Adds a license and what belongs to it. @returns its id */
export async function addLicense(database: Database, record: LicenseRecord): Promise<string> {
  const { db } = database
  const { domain, name = 'Museum', type = 'standard', languages = [], museums = [] } = record
  const { suspended = false, valid_from: validFrom = null, valid_until: validUntil = null } = record
  const license = {
    domain,
    name,
    protected: record.protected ?? false,
    suspended,
    valid_from: validFrom,
    valid_until: validUntil,
    type_id: type === null ? null : await addLicenseType(database, type),
  }
  const { id } = await db.insertInto('licenses').values(license).returning('id').executeTakeFirstOrThrow()
  for (const [position, code] of languages.entries()) {
    await db
      .insertInto('license_languages')
      .values({ license_id: id, language_id: await addLanguage(database, code), position })
      .execute()
  }
  for (const museum of museums) await db.insertInto('museums').values({ license_id: id, name: museum }).execute()
  return id
}

/** Adds a license type unless its label exists. @returns its id */
export async function addLicenseType({ db }: Database, type: string): Promise<string> {
  const added = await db
    .insertInto('license_types')
    .values({ type })
    .onConflict(conflict => conflict.column('type').doUpdateSet({ type }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return added.id
}

/** Adds a language unless its tag exists. @returns its id */
export async function addLanguage({ db }: Database, code: string): Promise<string> {
  const language = { code, name: `Language ${code}` }
  const added = await db
    .insertInto('languages')
    .values(language)
    .onConflict(conflict => conflict.column('code').doUpdateSet(language))
    .returning('id')
    .executeTakeFirstOrThrow()
  return added.id
}

export interface UserRecord {
  email: string
  password?: string
  admin?: boolean
  /** License ids. The user joins a group of each. */
  licenses?: string[]
}

/** The password of every test user without one of their own. */
export const testPassword = 'correct horse battery'

/** Hashes a password so that it is verified in no time. A hash says itself what it costs. */
async function hashCheaply(password: string): Promise<string> {
  return await hash(password.normalize('NFKC'), { memoryCost: 8, timeCost: 1, parallelism: 1 })
}

/** Adds a user. @returns their id */
export async function addUser(
  { db }: Database,
  { email, password = testPassword, admin = false, licenses = [] }: UserRecord,
): Promise<string> {
  const { id } = await db
    .insertInto('users')
    .values({ email, password_hash: await hashCheaply(password), admin })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const license of licenses) {
    const group = await db
      .insertInto('groups')
      .values({ license_id: license, name: 'Staff' })
      .returning('id')
      .executeTakeFirstOrThrow()
    await db.insertInto('user_groups').values({ user_id: id, group_id: group.id }).execute()
  }
  return id
}

export interface SignIn {
  host: string
  email: string
  password?: string
  remember?: boolean
  headers?: Record<string, string>
  /** The client's address, by which attempts are counted. Default: one without attempts. */
  remoteAddress?: string
}

let clients = 0

/** An address that no attempt to sign in has come from. */
export function newAddress(): string {
  clients++
  return `203.0.${clients >> 8}.${clients & 255}`
}

/** Signs in as a program does. @returns the Cookie header for the requests that follow */
export async function signIn(
  app: FastifyInstance,
  { host, email, password = testPassword, remember = false, headers, remoteAddress = newAddress() }: SignIn,
): Promise<string> {
  const response = await app.inject({
    method: 'POST',
    url: '/login',
    remoteAddress,
    headers: { host, ...headers },
    payload: { email, password, remember },
  })
  if (response.statusCode !== 204) throw new Error(`Nobody was signed in: ${response.statusCode} ${response.body}`)
  return cookieOf(response)
}

/** Whether somebody can sign in. */
export async function canSignIn(app: FastifyInstance, how: SignIn): Promise<boolean> {
  return await signIn(app, how).then(
    () => true,
    () => false,
  )
}

/** Sends the fields of a form as a browser does. */
export async function postForm(
  app: FastifyInstance,
  url: string,
  fields: Record<string, string>,
  { headers = {}, remoteAddress = newAddress() }: { headers?: Record<string, string>; remoteAddress?: string } = {},
) {
  return await app.inject({
    method: 'POST',
    url,
    remoteAddress,
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  })
}

/** The name and the value of the cookie that a response sets. */
export function cookieOf({ headers }: { headers: Record<string, unknown> }): string {
  return setCookieOf({ headers }).replace(/;.*/, '')
}

/** The Set-Cookie header of a response, or an empty string. */
export function setCookieOf({ headers }: { headers: Record<string, unknown> }): string {
  return String(headers['set-cookie'] ?? '')
}

/** Makes a change and returns all notifications of it. A later notification marks the end, as they arrive in order. */
export async function heardOf({ db, changes }: Database, change: () => Promise<unknown>): Promise<string[]> {
  const heard: string[] = []
  const ended = new Promise<void>(resolve => {
    changes.on('change', function hear(table, key) {
      if (table === 'the_end') {
        changes.off('change', hear)
        resolve()
      } else heard.push(key === null ? table : `${table} ${key}`)
    })
  })
  await change()
  await sql`notify portico_changes, 'the_end'`.execute(db)
  await ended
  return heard.sort()
}

/** Waits until every change so far has been heard. One heard later would drop what a cache has just loaded. */
export async function hearAll(database: Database): Promise<void> {
  await heardOf(database, async () => {})
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Asked {
  payload?: object | string | undefined
  headers?: Record<string, string>
  host?: string
  /** The cookie of who is signed in. An empty one for nobody. */
  cookie?: string | undefined
}

/** Sends requests to an app's API, as who has this cookie unless they say otherwise. */
export function asking(app: FastifyInstance, mine: string, site = 'museum.test') {
  return async (method: Method, path: string, { payload, headers = {}, host = site, cookie = mine }: Asked = {}) =>
    await app.inject({
      method,
      url: `/api/${path}`,
      headers: { host, ...(cookie !== '' && { cookie }), ...headers },
      ...(payload !== undefined && { payload }),
    })
}

/**
 * Starts an app for museum.test with two users, admin@museum.test and visitor@museum.test, who are signed in. What the
 * returned functions ask for, the admin asks for, unless they say otherwise.
 * @param additions what an application that is built on Portico adds
 */
export async function startApi(t: Test, site: Partial<LicenseRecord> = {}, additions: Additions = {}) {
  const database = await openOwnDatabase(t, additions)
  const license = await addLicense(database, { domain: 'museum.test', ...site })
  const adminId = await addUser(database, { email: 'admin@museum.test', admin: true })
  await addUser(database, { email: 'visitor@museum.test', licenses: [license] })
  const app = await build(t, { database, ...additions })
  const admin = await signIn(app, { host: 'museum.test', email: 'admin@museum.test' })
  const visitor = await signIn(app, { host: 'museum.test', email: 'visitor@museum.test' })
  const ask = asking(app, admin)

  return {
    ...{ database, db: database.db, app, license, adminId, admin, visitor, ask },
    statusOf: async (...asked: Parameters<typeof ask>) => (await ask(...asked)).statusCode,
    /** Adds a record. @returns it, as it was answered */
    async add(path: string, payload: object) {
      const response = await ask('POST', path, { payload })
      if (response.statusCode !== 201) throw new Error(response.body)
      return response.json()
    },
    /** One field of each record of a list. */
    async valuesOf(path: string, field: string, cookie = admin): Promise<unknown[]> {
      const response = await ask('GET', path, { cookie })
      if (response.statusCode !== 200) throw new Error(response.body)
      return response.json().items.map((item: Record<string, unknown>) => item[field])
    },
  }
}

/** Opens a database with the tables of an application's own migrations, which are dropped after the test. */
async function openOwnDatabase(t: Test, { migrations }: Additions): Promise<Database> {
  const database = await openTestDatabase(t)
  if (migrations === undefined) return database
  const tables = async () => {
    const all = await database.db.introspection.getTables()
    return all.filter(({ isView }) => !isView).map(({ name }) => name)
  }
  ;(await database.db.introspection.getTables()).filter(({ isView }) => !isView).map(({ name }) => name)
  const before = await tables()
  const series = allSeriesWith(migrations)
  await migrate(database.db, series)
  const own = (await tables()).filter(name => !before.includes(name))
  t.teardown(() => sql`drop table ${sql.join(own.map(name => sql.table(name)))} cascade`.execute(database.db))
  return { ...database, series }
}

/** The status of a response and the sentence with which it says why it is no other. */
export function problemOf({ statusCode, json }: { statusCode: number; json: () => { detail: string } }) {
  return [statusCode, json().detail]
}
