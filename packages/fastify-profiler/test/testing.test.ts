import { AssertionError } from 'node:assert'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t, { type Test } from 'tap'
import { expectProfile, profiled } from '../testing.ts'
import { beginQuery } from '../features/queries/queries.ts'
import { makeFolder } from './folder.ts'
import { profiledApp, profileOf } from './profiled-app.ts'
import { exampleQuery, exampleUse, profile, span } from './views/example-profile.ts'

/** Sends a query for each of these parameters. */
function sendQueries(parameters: readonly unknown[]): void {
  for (const parameter of parameters) {
    const statement = 'select * from paintings where museum = $1'
    beginQuery({ system: 'postgresql', statement, parameters: [parameter] }, beginQuery)?.end(1)
  }
}

function addRoutes(app: FastifyInstance): FastifyInstance {
  app.get<{ Querystring: { n?: string } }>('/museums', async ({ query }) => {
    sendQueries(Array.from({ length: Number(query.n ?? 0) }, (_, index) => index))
    return 'museums'
  })
  return app
}

/** An application that does not know the profiler. */
function plain(t: Test, logger: FastifyServerOptions['logger'] = { level: 'silent' }): FastifyInstance {
  const app = addRoutes(Fastify({ logger }))
  t.teardown(() => app.close())
  return app
}

/** The message of the AssertionError that a check throws. */
function failureOf(check: () => unknown): string {
  try {
    check()
  } catch (error) {
    if (error instanceof AssertionError) return error.message
    throw error
  }
  return 'none'
}

t.test('an application without the profiler gets one, and each response its profile', async t => {
  const { response, profile } = await profiled(plain(t)).inject('/museums?n=3')
  t.equal(response.body, 'museums')
  t.match(profile, { method: 'GET', url: '/museums?n=3', status: 200, database: { count: 3 } })
})

t.test('an application keeps the profiler that it has registered', async t => {
  const app = addRoutes(await profiledApp(t))
  const { profile } = await profiled(app).inject({ method: 'GET', url: '/museums' })
  t.same(await app.profiler.find(profile.token), profile)
})

t.test('a second call uses the same profiler', async t => {
  const app = plain(t)
  await profiled(app).inject('/museums')
  t.match((await profiled(app).inject('/museums')).profile, { url: '/museums' })
})

t.test('an application that is loaded already is refused with what to do instead', async t => {
  const app = plain(t)
  await app.ready()
  t.throws(() => profiled(app), { message: /Call profiled\(app\) before app\.ready\(\)/ })
  t.throws(() => profiled({ inject: app.inject }), { message: /has no profiler/ })
})

t.test('an application that another version watches is refused', async t => {
  const watcher = { version: '0.0.1', profiler: {} }
  const app = Object.assign(plain(t), { [Symbol.for('fastify-profiler')]: watcher })
  t.throws(() => profiled(app), { message: 'Another version of fastify-profiler watches this application.' })
})

t.test('a request without a profile is an error', async t => {
  const app = await profiledApp(t)
  await t.rejects(profiled(app).inject('/_profiler/'), { message: 'The request has no profile. Its status is 200.' })
})

t.test('a request within its budget passes every check', async t => {
  const { profile } = await profiled(plain(t)).inject('/museums?n=3')
  const expectation = expectProfile(profile)
  t.equal(expectation.queries({ max: 3 }).noLoops().noErrors().noErrorLogs().under({ ms: 10_000 }), expectation)
})

t.test('a loop of 1+20 queries fails with its count, its statement, its line and the token', async t => {
  const { profile } = await profiled(plain(t)).inject('/museums?n=20')
  const place = String.raw`packages/fastify-profiler/.*testing\.test\.ts:17:\d+`
  const line = String.raw`  20 × select \* from paintings where museum = \$1, [<\d.]+ ms, ${place}`
  t.match(
    failureOf(() => expectProfile(profile).noLoops()),
    new RegExp(`^GET /museums\\?n=20 sends a query for each item \\(N\\+1\\):\n${line}\nProfile ${profile.token}$`),
  )
  const found = failureOf(() => expectProfile(profile).queries({ max: 3 }))
  t.match(found, new RegExp(`^GET /museums\\?n=20 sent 20 queries, 3 allowed:\n${line}\nProfile ${profile.token}$`))
})

t.test('queries are listed by statement and line, the most frequent first, at most ten', async t => {
  const queries = Array.from({ length: 13 }, (_, n) =>
    exampleQuery({ sql: `select ${Math.min(n, 11)} ${'x'.repeat(99)}` }),
  )
  const lines = failureOf(() => expectProfile(profile({ database: exampleUse(queries) })).queries({ max: 0 })).split(
    '\n',
  )
  t.match(lines[1], /^ {2}2 × select 11 x{90}…, 2\.00 ms$/)
  t.equal(lines.length, 13)
  t.equal(lines[11], '  and 2 others')
})

t.test('a loop whose caller is unknown fails without a line', async t => {
  const repetition = { kind: 'loop' as const, sql: 'select 1', count: 9, duration: 9, locations: [] }
  const duplicate = { ...repetition, kind: 'duplicate' as const }
  const checked = profile({ database: exampleUse([], { repetitions: [repetition, duplicate] }) })
  const found = failureOf(() => expectProfile(checked).noLoops())
  t.match(found, '  9 × select 1, 9.00 ms\nProfile')
})

t.test('logged errors fail with their messages', async t => {
  const log = (level: number, message: string) => ({ level, start: 1, message, fields: {} })
  const checked = profile({ logs: [log(40, 'a warning'), log(50, 'no picture'), log(60, 'no\nmuseum')] })
  t.equal(
    failureOf(() => expectProfile(checked).noErrorLogs()),
    `GET /museums/7?lang=fr&page=2 logged 2 errors:\n  error: no picture\n  fatal: no museum\nProfile ${checked.token}`,
  )
})

t.test('the error of a 500 is logged, although its route was there before the profiler', async t => {
  const app = plain(t)
  app.get('/broken', async () => {
    throw new Error('no wall')
  })
  const { profile } = await profiled(app).inject('/broken')
  const place = `Profile ${profile.token}`
  t.equal(
    failureOf(() => expectProfile(profile).noErrorLogs()),
    `GET /broken logged 1 error:\n  error: no wall\n${place}`,
  )
  t.equal(
    failureOf(() => expectProfile(profile).noErrors()),
    `GET /broken has errors:\n  status 500\n  Error: no wall\n  error: no wall\n${place}`,
  )
})

t.test('failed queries and HTTP requests are errors although the answer is 200', async t => {
  const query = exampleQuery({ sql: 'select 1', error: 'no such table', location: null })
  const database = exampleUse([query], { count: 9, failed: 2 })
  const http = { count: 1, failed: 1, duration: 1, calls: [] }
  const checked = profile({ status: 200, exceptions: [], logs: [], database, http })
  t.match(
    failureOf(() => expectProfile(checked).noErrors()),
    'failed query: select 1: no such table\n  1 other failed query\n  1 other failed HTTP request\n',
  )
})

t.test('without a logger, no check of error lines passes unless that is expected', async t => {
  const { profile } = await profiled(plain(t, false)).inject('/museums')
  for (const check of ['noErrorLogs', 'noErrors'] as const) {
    t.match(
      failureOf(() => expectProfile(profile)[check]()),
      /cannot be checked:\n {2}Fastify logs nothing.*level: 'silent'.*unseen: \['logs'\]/,
      check,
    )
    t.equal(
      failureOf(() => expectProfile(profile, { unseen: ['logs'] })[check]()),
      'none',
      check,
    )
  }
})

t.test('log lines over the bound may be errors', async t => {
  const app = addRoutes(await profiledApp(t, { profileBounds: { logs: 1 } }))
  app.get('/chatty', async request => {
    for (let n = 0; n < 3; n++) request.log.info('no error')
    return 'chatty'
  })
  const { profile } = await profiled(app).inject('/chatty')
  t.match(
    failureOf(() => expectProfile(profile).noErrorLogs()),
    /cannot be checked:\n {2}\d+ log lines left out.*Raise profileBounds\.logs/,
  )
})

t.test('a database library that is not watched is named, and no check of queries passes', async t => {
  const root = makeFolder()
  const install = (folder: string, manifest: object) => {
    mkdirSync(join(root, folder), { recursive: true })
    writeFileSync(join(root, folder, 'package.json'), JSON.stringify(manifest))
  }
  install('.', { dependencies: { oracledb: '6', pg: '8', couchbase: '4', shop: '1' } })
  install('node_modules/oracledb', { version: '6.9.0' })
  install('node_modules/shop', { dependencies: { mariadb: '3' } })
  install('node_modules/shop/node_modules/mariadb', { version: '3.4.5' })
  const profile = await profileOf(addRoutes(await profiledApp(t, { root })), '/museums')
  const says = 'oracledb 6.9.0 is installed and not watched: its queries are missing.'
  t.strictSame(profile.notes, [says, 'mariadb 3.4.5 is installed and not watched: its queries are missing.'])
  for (const check of [
    () => expectProfile(profile).noLoops(),
    () => expectProfile(profile).queries({ max: 3 }),
    () => expectProfile(profile).noErrors(),
  ]) {
    t.match(failureOf(check), `GET /museums cannot be checked:\n  ${says} If that is right here: `)
  }
  const expectation = expectProfile(profile, { unseen: ['oracledb', 'mariadb'] })
  t.equal(expectation.queries({ max: 3 }).noLoops().noErrors(), expectation)
})

t.test('code that connects to the port of a database is named if nothing watches it, as in a bundle', async t => {
  const app = await profiledApp(t)
  app.get('/bundled', async () => {
    connect(1433, '127.0.0.1')
      .on('error', () => {})
      .write('select 1')
  })
  const profile = await profileOf(app, '/bundled')
  const says = /testing\.test\.\w+ connects to port 1433 and is not watched: queries that it sends are missing\./
  t.match(
    profile.unseen?.filter(({ what }) => what === 'queries'),
    [{ says }],
  )
  t.match(
    failureOf(() => expectProfile(profile).noLoops()),
    says,
  )
})

for (const name of ['postgres', 'pg']) {
  t.test(`a copy of ${name} that is loaded past the profiler is named, since it is not watched`, async t => {
    const folder = makeFolder()
    const copy = join(folder, 'packages/api/node_modules', name)
    mkdirSync(join(copy, 'src'), { recursive: true })
    writeFileSync(join(copy, 'package.json'), '{ "type": "module" }')
    const file = join(copy, 'src/connection.js')
    writeFileSync(
      file,
      `import { connect } from 'node:net'
export function ask () {
  const socket = connect(5432, '127.0.0.1').on('error', () => {})
  socket.write('x')
  socket.destroy()
}`,
    )
    const { ask } = await import(file)
    const app = await profiledApp(t, { root: folder })
    app.get('/', async () => {
      ask()
    })
    const { unseen } = await profileOf(app, '/')
    t.match(unseen, [{ name, says: `${name} connects to port 5432 and is not watched: ` }])
  })
}

t.test('a probe of the port of a database is not named: it sends nothing', async t => {
  const app = await profiledApp(t)
  app.get('/probe', async () => {
    connect(27017, '127.0.0.1').on('error', () => {})
  })
  t.strictSame((await profileOf(app, '/probe')).unseen?.filter(({ what }) => what === 'queries') ?? [], [])
})

t.test('a request that takes too long fails with the calls that took longest', async t => {
  const message = failureOf(() => expectProfile(profile()).under({ ms: 5 }))
  t.match(message, /^GET .* took 24\.6 ms, 5\.00 ms allowed:\n/)
  t.match(message, /\n {2}select platforms, 9\.30 ms, .*locale\.ts:12:7\n/)
  t.match(
    failureOf(() => expectProfile(profile({ spans: [span({ location: null, duration: 9 })] })).under({ ms: 5 })),
    /\n {2}setLocale, 9\.00 ms\n/,
  )
})

t.test('the error begins its stack at the test, and has the numbers as values', async t => {
  try {
    expectProfile(profile()).under({ ms: 5 })
  } catch (error) {
    t.match(error, { code: 'ERR_ASSERTION', actual: 24.6, expected: 5, operator: 'under' })
    t.match(
      String((error as Error).stack)
        .split('\n')
        .find(line => line.includes(' at ')),
      'testing.test',
    )
  }
})
