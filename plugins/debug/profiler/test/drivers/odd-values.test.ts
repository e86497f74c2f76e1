import { channel, tracingChannel } from 'node:diagnostics_channel'
import { ClientRequest } from 'node:http'
import t, { type Test } from 'tap'
import type { DatabaseUse } from '../../base/profile.ts'
import { drizzleDriver } from '../../watch/drivers/drizzle.ts'
import type { Driver } from '../../watch/drivers/driver.ts'
import { lookForModules } from '../../watch/drivers/install-drivers.ts'
import { ioredisDriver } from '../../watch/drivers/ioredis.ts'
import { knexDriver } from '../../watch/drivers/knex.ts'
import { kyselyDriver } from '../../watch/drivers/kysely.ts'
import { mongodbDriver } from '../../watch/drivers/mongodb.ts'
import { mysql2Driver } from '../../watch/drivers/mysql2.ts'
import { pgDriver } from '../../watch/drivers/pg.ts'
import { redisDriver } from '../../watch/drivers/redis.ts'
import { sqliteDriver } from '../../watch/drivers/sqlite.ts'
import { profileOf } from './driver-app.ts'

// Stands in for versions of the libraries that are not installed: classes that hand back what they get.

const values = [undefined, null, 0, 'text', [], {}, () => {}, Symbol('odd')]

/** A class whose methods return what `answer` makes of their arguments. */
function classWith(names: readonly string[], answer: (args: unknown[]) => unknown): new () => Record<string, Method> {
  const made = class {}
  for (const name of names) {
    Reflect.set(made.prototype, name, function (...args: unknown[]): unknown {
      return answer(args)
    })
  }
  return made as new () => Record<string, Method>
}

type Method = (...args: unknown[]) => unknown

/** Calls a patched method of a new object. */
function call(Made: new () => Record<string, Method>, name: string, ...args: unknown[]): unknown {
  return Made.prototype[name].apply(new Made(), args)
}

async function queriesOf(t: Test, run: () => unknown): Promise<DatabaseUse['queries']> {
  return (await profileOf(t, run)).database?.queries ?? []
}

const patching: Record<string, [driver: Driver, exported: string, methods: string[]]> = {
  pg: [pgDriver, 'Client', ['query']],
  mysql2: [mysql2Driver, '', ['query', 'addCommand']],
  kysely: [kyselyDriver, 'DefaultQueryExecutor', ['executeQuery']],
  knex: [knexDriver, '', ['query', 'queryArray']],
  mongodb: [mongodbDriver, 'Connection', ['command', 'sendCommand']],
  redis: [redisDriver, 'default', ['sendCommand']],
  sqlite: [sqliteDriver, '', ['prepare', 'exec']],
  ioredis: [ioredisDriver, 'Redis', ['sendCommand']],
}

for (const [name, [driver, exported, methods]] of Object.entries(patching)) {
  t.test(`whatever a method of ${name} gets and answers is passed on as it is`, async t => {
    const made = classWith(methods, args => args[0])
    driver.patch?.(exported === '' ? made : { [exported]: made })
    for (const value of values) driver.patch?.(value)
    driver.patch?.({ default: class {}, Pool: 7, Client: null })
    await profileOf(t, () => {
      for (const first of values) {
        for (const second of values) t.equal(call(made, methods[0] ?? '', first, second), first)
      }
    })
  })
}

t.test('a statement of several has the rows of all, one without a count has none', async t => {
  const made = classWith(['query'], () => Promise.resolve([{ rowCount: 2 }, { rowCount: null }, 7]))
  pgDriver.patch?.({ Client: made })
  t.match(await queriesOf(t, () => call(made, 'query', { name: 'prepared' })), [{ sql: 'prepared', rows: 2 }])
})

t.test('an answer of MySQL that is neither rows nor a change has no rows', async t => {
  const made = classWith(['query', 'addCommand'], args => Promise.resolve(args[1]))
  mysql2Driver.patch?.(made)
  const queries = await queriesOf(t, async () => {
    await call(made, 'query', 'select 1', 7)
    await call(made, 'query', 'select 2', { a: 1 })
  })
  t.match(queries, [
    { parameters: [7], rows: null },
    { parameters: [{ a: 1 }], rows: null },
  ])
})

t.test('a dialect of Kysely that nobody knows is SQL, a change has the number of rows', async t => {
  const made = classWith(['executeQuery'], args => Promise.resolve(args[1]))
  kyselyDriver.patch?.({ DefaultQueryExecutor: made })
  const queries = await queriesOf(t, () => call(made, 'executeQuery', { sql: 'update a' }, { numAffectedRows: 3n }))
  t.match(queries, [{ system: 'sql', sql: 'update a', parameters: [], rows: 3 }])
})

t.test('a runner of Knex without a client or a builder is a query without a caller', async t => {
  const made = classWith(['query', 'queryArray'], () => Promise.resolve(7))
  knexDriver.patch?.(made)
  const queries = await queriesOf(t, () => call(made, 'query', { sql: 'select 1' }))
  t.match(queries, [{ system: 'undefined', sql: 'select 1', parameters: [] }])
})

t.test('a command of MongoDB on a database has no collection, and one that keeps a connection is none', async t => {
  const made = classWith(['command', 'sendCommand'], () => Promise.resolve({ batchSize: 'odd' }))
  const exports = { Connection: made, executeOperation: (_client: unknown, _operation: unknown) => Promise.resolve(7) }
  mongodbDriver.patch?.(exports)
  const queries = await queriesOf(t, async () => {
    await call(made, 'command', 'db', { aggregate: 1, pipeline: [], $db: 'museum', lsid: 1 })
    await call(made, 'command', 'db', { getMore: 7n, collection: 'art' })
    await call(made, 'command', 'db', { hello: 1 })
    await exports.executeOperation(null, { commandName: 'listCollections' })
    await exports.executeOperation(null, { commandName: 'ping' })
    await exports.executeOperation(null, null)
  })
  t.match(queries, [
    { sql: 'aggregate', parameters: [{ pipeline: [] }], rows: null },
    { sql: 'getMore art' },
    { sql: 'listCollections', parameters: [], rows: null },
  ])
  t.equal(queries.length, 3)
})

t.test('versions 4 and 5 of node-redis, which have no channels, are watched', async t => {
  const names = ['commandsExecutor', 'sendCommand', 'GET', 'get', 'SUBSCRIBE', 'subscribe', 'MULTI', 'multi']
  const made = classWith([...names, 'multiExecutor', '_executePipeline'], () => Promise.resolve('Lisa'))
  redisDriver.patch?.({ default: made })
  const listener = () => {}
  const queries = await queriesOf(t, async () => {
    t.equal(await call(made, 'get', 'mona'), 'Lisa')
    await call(made, 'sendCommand', ['SET', Buffer.from('mona'), 'Lisa'])
    await call(made, 'sendCommand', ['AUTH', 'hunter2'])
    await call(made, 'multiExecutor', [{}, {}])
    await call(made, '_executePipeline', 'odd')
    await call(made, 'subscribe', 'channel', listener)
  })
  t.match(queries, [
    { sql: 'get', parameters: ['mona'] },
    { sql: 'set', parameters: ['mona', '?'] },
    { sql: 'auth', parameters: ['?'] },
    { sql: 'multi of 2 commands' },
  ])
  t.equal(queries.length, 4)
})

t.test('a version of node-redis with channels is not patched', t => {
  class Client {
    sendCommand(): string {
      return 'TRACE_COMMAND'
    }
  }
  const { sendCommand } = Client.prototype
  redisDriver.patch?.({ default: Client })
  t.equal(Client.prototype.sendCommand, sendCommand)
  t.end()
})

t.test('a command of ioredis without a name or a promise is passed on', async t => {
  const made = classWith(['sendCommand'], args => args[0])
  ioredisDriver.patch?.({ Cluster: made })
  const queries = await queriesOf(t, () => {
    for (const command of [{}, { name: 'get', args: 7 }]) t.equal(call(made, 'sendCommand', command), command)
  })
  t.match(queries, [{ sql: 'get', parameters: [], duration: null }])
})

t.test('a statement of SQLite that is no object, or says nothing of itself, is passed on', async t => {
  const statement = {
    all: () => 'odd',
    run: () => null,
  }
  const made = classWith(['prepare', 'exec'], ([sql]) => (sql === 'nothing' ? null : statement))
  sqliteDriver.patch?.(made)
  const queries = await queriesOf(t, () => {
    t.equal(call(made, 'prepare', 'nothing'), null)
    t.equal(call(made, 'prepare', 'something'), statement)
    t.equal(statement.all(), 'odd')
    Reflect.set(statement, 'sourceSQL', 'select 1')
    t.equal(statement.all(), 'odd')
    t.equal(statement.run(), null)
    Reflect.set(statement, 'database', { name: 'museum' })
    statement.run()
    call(made, 'exec', 7)
  })
  t.match(queries, [{ rows: null }, { rows: null }, { rows: null }])
})

t.test('classes that are not those of Drizzle are left alone', t => {
  const entity = Object.assign(() => {}, { [Symbol.for('drizzle:entityKind')]: 'Odd', prototype: null })
  for (const value of [...values, { entity, other: class {} }]) drizzleDriver.patch?.(value)
  t.end()
})

t.test('a query of Drizzle that was built before the request has no caller of its own', async t => {
  class Query {
    async execute(): Promise<string> {
      return 'done'
    }

    then(resolve: (value: string) => void): void {
      void this.execute().then(resolve)
    }
  }
  Object.assign(Query, { [Symbol.for('drizzle:entityKind')]: 'Query' })
  drizzleDriver.patch?.({ Query })
  const query = new Query()
  await profileOf(t, async () => t.equal(await query, 'done'))
})

t.test('messages on the channels that nobody expects are ignored', async t => {
  const names = ['created', 'start', 'error'].map(name => `http.client.request.${name}`)
  names.push('http.client.response.finish')
  names.push(...['create', 'headers', 'bodyChunkReceived', 'trailers', 'error'].map(name => `undici:request:${name}`))
  const { http, database } = await profileOf(t, () => {
    for (const message of [...values, { request: 7, response: {} }, { request: { method: 'GET' } }]) {
      for (const name of names) channel(name).publish(message)
      for (const name of ['node-redis:command', 'node-redis:batch']) {
        const { start, asyncEnd, error } = tracingChannel(name)
        for (const event of [start, asyncEnd, error]) event.publish(message)
      }
    }
  })
  t.equal(http, null)
  t.ok((database?.queries ?? []).every(({ system }) => system === 'redis'))
})

t.test('a request that both the channel and the agent tell of is one', async t => {
  const { http } = await profileOf(t, () => {
    const request = new ClientRequest('http://127.0.0.1:1/')
    request.on('error', () => {}).destroy()
    channel('http.client.request.created').publish({ request })
  })
  t.equal(http?.count, 1)
})

t.test('many different statements and long ones are named as all others', async t => {
  const made = classWith(['query'], () => Promise.resolve({}))
  pgDriver.patch?.({ Client: made })
  const { spans } = await profileOf(t, async () => {
    for (let n = 0; n < 600; n++) await call(made, 'query', `select ${n} from museums`)
    await call(made, 'query', `select '${'x'.repeat(10_000)}' from museums`)
    await call(made, 'query', 'rollback to savepoint')
    await call(made, 'query', "select $1 from museums where tags ? 'one'", ['two'])
  })
  t.strictSame(
    [...new Set(spans.filter(({ kind }) => kind === 'query').map(({ name }) => name))],
    ['select museums', 'rollback'],
  )
})

t.test("Node's own modules are looked for only once they are loaded", t => {
  const loaded: unknown = Reflect.get(process, 'moduleLoadList')
  if (Array.isArray(loaded)) loaded.push('NativeModule sqlite')
  lookForModules()
  t.end()
})
