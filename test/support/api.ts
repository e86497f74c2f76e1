import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { build } from './build.ts'
import { addLicense, addUser, type LicenseRecord } from './records.ts'
import { signIn } from './sign-in.ts'
import { openTestDatabase } from './test-database.ts'

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
 */
export async function startApi(t: Test, site: Partial<LicenseRecord> = {}) {
  const database = await openTestDatabase(t)
  const license = await addLicense(database, { domain: 'museum.test', ...site })
  const adminId = await addUser(database, { email: 'admin@museum.test', admin: true })
  await addUser(database, { email: 'visitor@museum.test', licenses: [license] })
  const app = await build(t, { database })
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
