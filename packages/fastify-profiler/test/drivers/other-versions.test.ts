import { channel } from 'node:diagnostics_channel'
import { ClientRequest } from 'node:http'
import t, { type Test } from 'tap'
import type { DatabaseUse } from '../../core/profile.ts'
import { kyselyDriver } from '../../features/queries/drivers/kysely.ts'
import { mongodbDriver } from '../../features/queries/drivers/mongodb.ts'
import { mysql2Driver } from '../../features/queries/drivers/mysql2.ts'
import { pgDriver } from '../../features/queries/drivers/pg.ts'
import { redisDriver } from '../../features/queries/drivers/redis.ts'
import { profileOf } from './driver-app.ts'

// Stands in for versions of the libraries that are not installed, and for answers that no stand-in server gives.

type Method = (...args: unknown[]) => unknown

/** A class whose methods return what `answer` makes of their arguments. */
function classWith(names: readonly string[], answer: Method): new () => Record<string, Method> {
  const made = class {}
  for (const name of names) {
    Reflect.set(made.prototype, name, function (...args: unknown[]): unknown {
      return answer(...args)
    })
  }
  return made as new () => Record<string, Method>
}

/** Calls a patched method of a new object. */
function call(Made: new () => Record<string, Method>, name: string, ...args: unknown[]): unknown {
  return Made.prototype[name].apply(new Made(), args)
}

async function queriesOf(t: Test, run: () => unknown): Promise<DatabaseUse['queries']> {
  return (await profileOf(t, run)).database?.queries ?? []
}

t.test('a statement of several has the rows of all, one without a count has none', async t => {
  const made = classWith(['query'], () => Promise.resolve([{ rowCount: 2 }, { rowCount: null }]))
  pgDriver.patch?.({ Client: made })
  t.match(await queriesOf(t, () => call(made, 'query', { name: 'prepared' })), [{ sql: 'prepared', rows: 2 }])
})

t.test('a statement that mysql2 has prepared is a query each time it is executed', async t => {
  type Done = (error: unknown, result: unknown) => void
  class Statement {
    readonly query = 'select one where id = ?'
    execute(_values: unknown[], done: Done) {
      done(null, [{ one: 1 }])
    }
  }
  class Connection {
    addCommand() {}
    prepare(_sql: string, done: (error: unknown, statement: Statement) => void) {
      done(null, new Statement())
    }
  }
  mysql2Driver.patch?.(Connection)
  const run = () =>
    new Connection().prepare('', (_error, statement) => {
      for (const id of [7, 8]) statement.execute([id], () => {})
    })
  const sql = 'select one where id = ?'
  t.match(await queriesOf(t, run), [
    { sql, parameters: [7], rows: 1 },
    { sql, parameters: [8], rows: 1 },
  ])
})

t.test('a dialect of Kysely that nobody knows is SQL, a change has the number of rows', async t => {
  const made = classWith(['executeQuery'], (_query, result) => Promise.resolve(result))
  kyselyDriver.patch?.({ DefaultQueryExecutor: made })
  const queries = await queriesOf(t, () => call(made, 'executeQuery', { sql: 'update a' }, { numAffectedRows: 3n }))
  t.match(queries, [{ system: 'sql', sql: 'update a', parameters: [], rows: 3 }])
})

t.test('a command of MongoDB on a database has no collection, and one that keeps a connection is none', async t => {
  const made = classWith(['command', 'sendCommand'], () => Promise.resolve({}))
  const exports = { Connection: made, executeOperation: (_client: unknown, _operation: unknown) => Promise.resolve(7) }
  mongodbDriver.patch?.(exports)
  const queries = await queriesOf(t, async () => {
    await call(made, 'command', 'db', { aggregate: 1, pipeline: [], $db: 'museum', lsid: 1 })
    await call(made, 'command', 'db', { getMore: 7n, collection: 'art' })
    await call(made, 'command', 'db', { hello: 1 })
    await exports.executeOperation(null, { commandName: 'listCollections' })
    await exports.executeOperation(null, { commandName: 'ping' })
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
  const queries = await queriesOf(t, async () => {
    t.equal(await call(made, 'get', 'mona'), 'Lisa')
    await call(made, 'sendCommand', ['SET', Buffer.from('mona'), 'Lisa'])
    await call(made, 'sendCommand', ['AUTH', 'hunter2'])
    await call(made, 'multiExecutor', [{}, {}])
    await call(made, 'subscribe', 'channel', () => {})
  })
  t.match(queries, [
    { sql: 'get', parameters: ['mona'] },
    { sql: 'set', parameters: ['mona', '?'] },
    { sql: 'auth', parameters: ['?'] },
    { sql: 'multi of 2 commands' },
  ])
  t.equal(queries.length, 4)
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
  const found = [...new Set(spans.filter(({ kind }) => kind === 'query').map(({ name }) => name))]
  t.strictSame(found, ['select museums', 'rollback'])
})
