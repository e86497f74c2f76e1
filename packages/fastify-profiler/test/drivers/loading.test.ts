import { tracingChannel } from 'node:diagnostics_channel'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import t from 'tap'
import { makeFolder } from '../folder.ts'
import { keptLines, onlyProfile, profiledApp } from '../profiled-app.ts'
import { profileOf } from './driver-app.ts'

const require = createRequire(import.meta.url)

/** Makes a package in a folder's node_modules, and returns its file. */
function makePackage(folder: string, name: string, code: string): string {
  const directory = join(folder, 'node_modules', name)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'index.cjs'), code)
  return join(directory, 'index.cjs')
}

const client = `exports.Client = class Client {
  query (text) { return Promise.resolve({ rowCount: 4, text }) }
}`

t.test('a library that a handler loads is watched', async t => {
  const folder = makeFolder()
  const commonJs = makePackage(folder, 'pg', client)
  const imported = makePackage(join(folder, 'other'), 'pg', client)
  const { database } = await profileOf(t, async () => {
    const first: { Client: new () => { query(text: string): Promise<unknown> } } = require(commonJs)
    await new first.Client().query('select required')
    const second: typeof first = await import(imported)
    await new second.Client().query('select imported')
  })
  t.match(database, { count: 2, rows: 8, queries: [{ sql: 'select required' }, { sql: 'select imported' }] })
})

t.test('an unknown version of a library works as without the profiler, with one log line at most', async t => {
  const folder = makeFolder()
  const exotic = [
    'module.exports = null',
    'exports.Client = class { get query () { return () => "got" } }',
    'exports.Client = Object.freeze(class { }); Object.freeze(exports.Client.prototype)',
    'exports.Client = class { query () { return "plain" } }; Object.freeze(exports.Client.prototype)',
    'Object.defineProperty(exports, "Client", { get () { throw new Error("There is no Client.") } })',
  ]
  const { lines, logger } = keptLines('info')
  const app = await profiledApp(t, { directory: join(folder, 'profiles') }, { logger })
  app.get('/run', async () => {
    for (const [n, code] of exotic.entries()) require(makePackage(join(folder, String(n)), 'pg', code))
    return 'done'
  })
  t.equal((await app.inject('/run')).statusCode, 200)
  const warnings = lines.filter(line => line.includes('"level":40'))
  t.ok(warnings.length <= 1, warnings.join('\n'))
})

t.test('a driver that fails to read a query harms neither the query nor the profile', async t => {
  const folder = makeFolder()
  const file = makePackage(folder, 'pg', client)
  const { lines, logger } = keptLines('info')
  const app = await profiledApp(t, { directory: join(folder, 'profiles') }, { logger })
  const hostile = {
    get text() {
      throw new Error('There is no text.')
    },
  }
  app.get('/run', async () => {
    const { Client } = require(file)
    await new Client().query(hostile)
    await new Client().query(null)
    return 'done'
  })
  t.equal((await app.inject('/run')).statusCode, 200)
  t.match(await onlyProfile(t, app, '/run'), { status: 200, database: null })
  t.equal(lines.filter(line => line.includes('There is no text.')).length, 1)
})

t.test('an answer that a driver fails to read reaches the application, with one log line', async t => {
  const folder = makeFolder()
  const hostile = {
    valueOf() {
      throw new Error('It is no number.')
    },
  }
  const endless: unknown[] = []
  endless.push(endless)
  const redis = tracingChannel<unknown, object>('node-redis:command')
  const settling = `class Command {
  constructor (answer) {
    this.name = 'exists'
    this.promise = new Promise((resolve, reject) => Object.assign(this, { resolve, reject, answer }))
  }
}`
  const ioredis = makePackage(
    folder,
    'ioredis',
    `${settling}
exports.Redis = class Redis {
  sendCommand (command) { command.resolve(command.answer); return command.promise }
  exists (answer) { return this.sendCommand(new Command(answer)) }
}`,
  )
  const postgres = makePackage(
    folder,
    'postgres',
    `exports.Query = class Query {
  constructor (answer) { Object.assign(this, { answer, strings: ['select 1'] }); this.handler = () => {} }
  handle () { this.resolve(this.answer) }
  then (resolve, reject) { Object.assign(this, { resolve, reject }); this.handle() }
}`,
  )
  const cases: Record<string, [answer: unknown, ask: (answer: unknown) => unknown]> = {
    ioredis: [Symbol('7'), async answer => new (require(ioredis).Redis)().exists(answer)],
    postgres: [endless, async answer => new Promise(resolve => new (require(postgres).Query)(answer).then(resolve))],
    'node-redis': [hostile, async answer => redis.tracePromise(async () => answer, { args: ['EXISTS', 'key'] })],
  }
  for (const [name, [answer, ask]] of Object.entries(cases)) {
    const { messages, logger } = keptLines('warn')
    const app = await profiledApp(t, { directory: join(folder, name) }, { logger })
    let answered: unknown
    app.get('/run', async () => {
      answered = await ask(answer)
      return 'done'
    })
    t.equal((await app.inject('/run')).body, 'done', name)
    t.equal(answered, answer, name)
    t.match(await onlyProfile(t, app, '/run'), { status: 200, database: { count: 1 } })
    t.same(messages, ['The profiler failed; the request did not'], name)
  }
})

t.test('an ES module that cannot be loaded is told once in the log', async t => {
  const folder = makeFolder()
  const directory = join(folder, 'node_modules', 'kysely', 'cjs')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, '..', 'package.json'), '{ "main": "cjs/index.js", "type": "commonjs" }')
  writeFileSync(join(directory, 'index.js'), '')
  const { lines, logger } = keptLines('info')
  const app = await profiledApp(t, { root: folder, directory: join(folder, 'profiles') }, { logger })
  await app.ready()
  t.equal(lines.filter(line => line.includes('ERR_MODULE_NOT_FOUND')).length, 1)
})

t.test('the ES modules of a copy that only a dependency of the application has are watched', async t => {
  const root = makeFolder()
  const copy = join(root, 'node_modules/shop/node_modules/postgres')
  mkdirSync(join(copy, 'src'), { recursive: true })
  mkdirSync(join(copy, 'cjs/src'), { recursive: true })
  writeFileSync(join(root, 'package.json'), '{ "dependencies": { "shop": "1" } }')
  writeFileSync(join(root, 'node_modules/shop/package.json'), '{ "dependencies": { "postgres": "3" } }')
  writeFileSync(join(copy, 'package.json'), '{ "main": "cjs/src/index.js", "type": "module" }')
  writeFileSync(join(copy, 'cjs/src/index.js'), '')
  const file = join(copy, 'src/query.js')
  writeFileSync(file, 'export class Query { handle () {} }')
  const app = await profiledApp(t, { root, directory: join(root, 'profiles') })
  await app.ready()
  const { Query } = await import(file)
  t.ok('parameters' in Query.prototype)
})

t.test("a module of the application's own is shown as the caller, unless it only passes queries on", async t => {
  const folder = makeFolder()
  const file = makePackage(folder, 'pg', client)
  writeFileSync(
    join(folder, 'database.cjs'),
    `const { Client } = require(${JSON.stringify(file)})
exports.query = text => new Client().query(text)`,
  )
  const ownModule = join(folder, 'database.cjs')
  for (const [passThrough, pattern] of [
    [[], /database\.cjs$/],
    [[folder], /loading\.test\.ts$/],
    [[relative(process.cwd(), folder)], /loading\.test\.ts$/],
  ] as const) {
    const { database } = await profileOf(t, () => require(ownModule).query('select 1'), { passThrough })
    t.match(database?.queries, [{ location: { file: pattern } }])
  }
})

t.test('a client that Prisma has generated into a folder of the application is not shown as the caller', async t => {
  const folder = makeFolder()
  const file = makePackage(folder, 'pg', client)
  const runtime = join(folder, 'src/generated/runtime')
  mkdirSync(runtime, { recursive: true })
  writeFileSync(join(runtime, '../package.json'), `{ "name": "prisma-client-${'7d54b749'.repeat(8)}" }`)
  writeFileSync(
    join(runtime, 'client.cjs'),
    `const { Client } = require(${JSON.stringify(file)})
exports.findMany = () => new Client().query('select 1')`,
  )
  const { findMany } = require(join(runtime, 'client.cjs'))
  const { database } = await profileOf(t, () => findMany())
  t.match(database?.queries, [{ location: { file: /loading\.test\.ts$/ } }])
})
