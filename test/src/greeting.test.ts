import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { greet } from '../../src/greeting.ts'
import { addLicense, addUser, build, type LicenseRecord, openTestDatabase } from '../support/site.ts'

const database = await openTestDatabase(t)

/** What a terminal shows for an app with these sites. */
async function greeting(app: FastifyInstance, how: { host?: string; isRestart?: boolean; isTTY?: boolean } = {}) {
  const { host = '127.0.0.1', isRestart = false, isTTY = true } = how
  let text = ''
  const output = {
    isTTY,
    write(line: string | Uint8Array) {
      text += String(line)
      return true
    },
  }
  await greet(app, { host, port: 3000, isRestart }, output)
  return text
}

/** An app on a database with only these licenses, or licenses for these domains. */
async function buildWith(t: Test, sites: (string | LicenseRecord)[], environment: Record<string, string> = {}) {
  await database.db.deleteFrom('licenses').execute()
  await database.db.deleteFrom('users').execute()
  for (const site of sites) await addLicense(database, typeof site === 'string' ? { domain: site } : site)
  const app = await build(t, { database, environment })
  await app.ready()
  return app
}

const named = `Database  ${database.name}\n`
const noUsers = 'No users yet: npm run portico -- user add you@museum.example --admin\n'

const past = new Date('2001-01-01T00:00:00Z')
const future = new Date('2900-01-01T00:00:00Z')
const port = 'http://127.0.0.1:3000/'

/** Sites, what a terminal is told about them, and the address of the server if it is not 127.0.0.1. */
const told: Record<string, [sites: (string | LicenseRecord)[], lines: string, host?: string]> = {
  'sites on this machine have links, and the first has the API': [
    ['localhost', '127.0.0.1', 'protected.localhost'],
    `Sites     http://localhost:3000/  ${port}  http://protected.localhost:3000/
API       http://localhost:3000/api/docs`,
  ],
  'the first three sites have links, each domain once': [
    ['a.test', 'a.localhost', 'a.localhost', 'b.localhost', 'c.localhost', 'd.localhost'],
    `Sites     http://a.localhost:3000/  http://b.localhost:3000/  http://c.localhost:3000/
API       http://a.localhost:3000/api/docs`,
  ],
  'if no name of this machine reaches a site, the address of the server is named': [
    ['museum.test', 'localhost'],
    'Sites     served at http://192.0.2.1:3000/ by their domains',
    '192.0.2.1',
  ],
  'an IPv6 address is in brackets': [
    ['a.test'],
    'Sites     served at http://[2001:db8::1]:3000/ by their domains',
    '2001:db8::1',
  ],
  'sites that do not answer everybody have no link': [
    [
      { domain: 'suspended.localhost', suspended: true },
      { domain: 'ended.localhost', valid_until: past },
      { domain: 'asleep.localhost', valid_from: future },
      // The first license of a domain counts.
      { domain: 'twice.localhost', suspended: true },
      'twice.localhost',
      { domain: 'open.localhost', valid_from: past, valid_until: future },
    ],
    `Sites     http://open.localhost:3000/
API       http://open.localhost:3000/api/docs`,
  ],
}

for (const [what, [sites, lines, host = '127.0.0.1']] of Object.entries(told)) {
  t.test(`On a terminal, ${what}`, async t => {
    t.equal(await greeting(await buildWith(t, sites), { host }), `${named}${lines}\n${noUsers}`)
  })
}

t.test('with DEBUG=1 the profiler is named, and all is said in four lines', async t => {
  const app = await buildWith(t, ['localhost'], { DEBUG: '1' })
  const shown = await greeting(app)
  t.match(shown, /^Profiler {2}http:\/\/localhost:3000\/_profiler\/$/m)
  t.equal(shown.split('\n').length, 5 + 1)
})

t.test('once there is a user, none is missing', async t => {
  const app = await buildWith(t, ['localhost'])
  await addUser(database, { email: 'first@museum.test' })
  t.equal(await greeting(app), `${named}Sites     http://localhost:3000/\nAPI       http://localhost:3000/api/docs\n`)
})

t.test('without sites it says how to add one, and links to no page that needs one', async t => {
  const app = await buildWith(t, [], { DEBUG: '1' })
  t.equal(
    await greeting(app),
    `${named}No sites yet: npm run portico -- seed adds three, and http://127.0.0.1:3000/ says how to add your own.
Profiler  http://127.0.0.1:3000/_profiler/
${noUsers}`,
  )
})

for (const [what, how] of [
  ['off a terminal', { isTTY: false }],
  ['after a restart', { isRestart: true }],
] as const) {
  t.test(`nothing is said ${what}`, async t => {
    t.equal(await greeting(await buildWith(t, ['localhost']), how), '')
  })
}

t.test('a database that fails does not stop the start', async t => {
  const app = await buildWith(t, ['localhost'])
  t.equal(await greeting(Object.assign(Object.create(app), { database: {} })), '')
})
