// What the package exports as `portico/testing`: a site for the tests of an application that is built on Portico.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import { type Additions, buildApp } from './app.ts'
import { readConfig } from './src/config.ts'
import type { Author } from './src/records/audit.ts'
import { users } from './src/records/kinds.ts'
import { createRecord } from './src/records/repository.ts'

export { buildApp } from './app.ts'

/** A site of the demonstration, and a password that nobody else has. */
const host = 'localhost'
const password = randomUUID()

/**
 * Opens a site with a temporary database that has the demonstration's records. close() removes it.
 * @param environment the variables that configure it
 */
export async function openTestSite(additions: Additions = {}, environment: NodeJS.ProcessEnv = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'portico-'))
  const app = await buildApp({
    ...additions,
    config: readConfig({ DATA_DIR: folder, ...environment }),
    variables: environment,
    // Shows why an answer is a 500.
    logger: { level: 'error' },
  })
  const { db } = app.database
  const author: Author = { via: 'command', user: null, tokenId: null, systemUser: 'test' }

  return {
    app,
    db,
    /** Who makes changes in the test itself. */
    author,
    /** Sends a request as a visitor who is not signed in. */
    ask: asking(''),
    signIn,
    async close() {
      await app.close()
      await rm(folder, { recursive: true, force: true })
    },
  }

  /** Adds a user, an admin by default. @returns a function that sends requests as this user, who is signed in */
  async function signIn({ admin = true } = {}) {
    const email = `${randomUUID()}@museum.test`
    await createRecord(db, author, users, { email, password, admin })
    const signedIn = await asking('')({ method: 'POST', url: '/login', payload: { email, password } })
    return asking(String(signedIn.headers['set-cookie']).replace(/;.*/, ''))
  }

  function asking(cookie: string) {
    return async (request: string | InjectOptions) => {
      const { headers, ...options } = typeof request === 'string' ? { url: request } : request
      return await app.inject({ ...options, headers: { host, cookie, ...headers } })
    }
  }
}
