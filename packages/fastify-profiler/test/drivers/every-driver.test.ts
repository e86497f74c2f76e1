import { createRequire } from 'node:module'
import { Redis } from 'ioredis'
import knex from 'knex'
import { Kysely, type PostgresCursorConstructor, PostgresDialect, sql } from 'kysely'
import { MongoClient } from 'mongodb'
import mssql from 'mssql'
import { createPool } from 'mysql2'
import pg from 'pg'
import QueryStream from 'pg-query-stream'
import openPostgres from 'postgres'
import { createClient } from 'redis'
import t from 'tap'
import { currentRecorder } from '../../index.ts'
import { linesOf, profileOf } from './driver-app.ts'
import { serveMongodb } from './mongodb-server.ts'
import { serveMssql } from './mssql-server.ts'
import { serveMysql } from './mysql-server.ts'
import { servePostgres } from './postgres-server.ts'
import { serveRedis } from './redis-server.ts'

type Callback = (error: unknown, result: unknown) => void

/** A library, and what every one can do. Each line that sends a query ends with the library's name and the deed. */
interface Library {
  ask: (id: number) => Promise<unknown>
  /** What the profile has of ask(7). */
  asked: { system: string; sql: string; parameters: unknown[]; rows: number | null }
  fail: () => Promise<unknown>
  /** What the application gets of the failure. */
  thrown: object
  /** Sends a query that takes 30 ms to a pool of one connection. */
  sleep?: () => Promise<unknown>
  transact?: () => Promise<unknown>
  stream?: () => Promise<unknown[]>
  /** Which queries have bytes of their own: all, as each waits for the one before, or those that are sent alone. */
  bytes?: 'of each' | 'alone'
  /** By what is sent along with the callback. */
  callbacks?: Record<string, (done: Callback) => unknown>
}

const lineOf = linesOf(import.meta.filename)
const host = '127.0.0.1'
const postgres = { host, port: await servePostgres(t), user: 'tester' }
const pool = new pg.Pool({ ...postgres, max: 1 })
const sqlTag = openPostgres({ ...postgres, max: 1 })
const mysql = createPool({ host, port: await serveMysql(t), user: 'root', connectionLimit: 1 })
const promised = mysql.promise()
const kyselyPool = new pg.Pool({ ...postgres, max: 1 })
const cursor: PostgresCursorConstructor = createRequire(import.meta.url)('pg-cursor')
const kysely = new Kysely<{ users: { id: number; password: string } }>({
  dialect: new PostgresDialect({ pool: kyselyPool, cursor }),
})
const knexed = knex({ client: 'pg', connection: postgres, pool: { min: 0, max: 1 }, version: '16' })
const mongo = new MongoClient(`mongodb://${host}:${await serveMongodb(t)}/?directConnection=true`, { serverApi: '1' })
const museum = mongo.db('museum')
const redisPort = await serveRedis(t)
const redis = createClient({ socket: { port: redisPort, host }, RESP: 3 })
redis.on('error', () => {})
await redis.connect()
const sqlServer = { port: await serveMssql(t), user: 'tester', password: 'open sesame' }
const mssqlPool = new mssql.ConnectionPool({
  ...sqlServer,
  server: host,
  options: { encrypt: false },
  pool: { min: 0, max: 1 },
})
await mssqlPool.connect()
const knexedMssql = knex({ client: 'mssql', connection: { ...sqlServer, server: host }, pool: { min: 0, max: 1 } })
const ioredis = new Redis({ port: redisPort, host, enableReadyCheck: false })
t.teardown(async () => {
  redis.destroy()
  ioredis.disconnect()
  await Promise.all([pool.end(), sqlTag.end(), promised.end(), kysely.destroy(), knexed.destroy(), mongo.close()])
  await Promise.all([mssqlPool.close(), knexedMssql.destroy()])
})

const parameters = [7, '[masked]']
const selected = 'select one from users where id = $1 and password = $2'
const selectedByName = 'select one from users where id = @id and password = @p'

const libraries: Record<string, Library> = {
  pg: {
    ask: id => pool.query(selected, [id, 'hunter2']), // pg asks
    asked: { system: 'postgresql', sql: selected, parameters, rows: 1 },
    fail: () => pool.query('fail'), // pg fails
    thrown: { code: '42601', message: 'cannot fail', stack: /every-driver/ },
    sleep: () => pool.query('select sleep 30'),
    bytes: 'of each',
    async transact() {
      const client = await pool.connect()
      await client.query('begin')
      await client.query('update users set one = 1') // pg changes
      await client.query('commit')
      client.release()
    },
    async stream() {
      const client = await pool.connect()
      const stream = new QueryStream('select one', [])
      t.equal(client.query(stream), stream) // pg streams
      return await stream.toArray().finally(() => client.release())
    },
    callbacks: {
      'a text': done => pool.query('select 1', done), // pg calls back with a text
      'a text and values': done => pool.query('select 1', [], done), // pg calls back with a text and values
      options: done => pool.query({ text: 'select 1', values: [] }, done), // pg calls back with options
    },
  },
  'postgres.js': {
    ask: id => sqlTag`select one from users where id = ${id} and password = ${'hunter2'}`.execute(), // postgres.js asks
    asked: { system: 'postgresql', sql: selected, parameters, rows: 1 },
    fail: () => sqlTag`fail`.execute(), // postgres.js fails
    thrown: { code: '42601', message: 'cannot fail', stack: /every-driver/ },
    sleep: async () => await sqlTag.unsafe('select sleep 30'),
    bytes: 'alone',
    transact: () =>
      sqlTag.begin(async transaction => {
        await transaction`update ${transaction('users')} set ${transaction({ one: 1 })}` // postgres.js changes
      }),
    async stream() {
      const rows: unknown[] = []
      for await (const batch of sqlTag`select one`.cursor(10)) rows.push(...batch) // postgres.js streams
      return rows
    },
  },
  mysql2: {
    ask: id => promised.query('select one from users where id = ? and password = ?', [id, 'hunter2']), // mysql2 asks
    asked: { system: 'mysql', sql: 'select one from users where id = ? and password = ?', parameters, rows: 1 },
    fail: () => promised.query('fail'), // mysql2 fails
    thrown: { errno: 1064, message: 'cannot fail', stack: /every-driver/ },
    sleep: () => promised.query('select sleep 30'),
    bytes: 'of each',
    async transact() {
      const connection = await promised.getConnection()
      await connection.beginTransaction()
      await connection.query('update users set one = 1') // mysql2 changes
      await connection.commit()
      connection.release()
    },
    stream: () => mysql.query('select one from museums').stream().toArray(), // mysql2 streams
    callbacks: { 'a text': done => mysql.query('select 1', done) }, // mysql2 calls back with a text
  },
  Kysely: {
    ask: id => kysely.selectFrom('users').select('id').where('id', '=', id).where('password', '=', 'x').execute(), // Kysely asks
    asked: {
      system: 'postgresql',
      sql: 'select "id" from "users" where "id" = $1 and "password" = $2',
      parameters,
      rows: 1,
    },
    fail: () => sql`fail`.execute(kysely), // Kysely fails
    thrown: { code: '42601', message: 'cannot fail', stack: /every-driver/ },
    sleep: () => sql`select sleep 30`.execute(kysely),
    bytes: 'of each',
    transact: () =>
      kysely.transaction().execute(async transaction => {
        await sql`update users set one = 1`.execute(transaction) // Kysely changes
      }),
    async stream() {
      const rows: unknown[] = []
      for await (const row of kysely.selectFrom('users').selectAll().stream()) rows.push(row) // Kysely streams
      return rows
    },
  },
  Knex: {
    ask: async id => await knexed('users').where({ id, password: 'hunter2' }), // Knex asks
    asked: {
      system: 'postgresql',
      sql: 'select * from "users" where "id" = $1 and "password" = $2',
      parameters,
      rows: 1,
    },
    fail: async () => await knexed.raw('fail'), // Knex fails
    thrown: { code: '42601', message: 'fail - cannot fail' },
    sleep: async () => await knexed.raw('select sleep 30'),
    bytes: 'of each',
    transact: () =>
      knexed.transaction(async transaction => {
        await transaction('users').update({ one: 1 }) // Knex changes
      }),
  },
  mssql: {
    ask: id => mssqlPool.request().input('id', id).input('p', 'hunter2').query(selectedByName), // mssql asks
    asked: { system: 'mssql', sql: selectedByName, parameters: [{ id: 7, p: '[masked]' }], rows: 1 },
    fail: () => mssqlPool.request().query('fail'), // mssql fails
    thrown: { code: 'EREQUEST', number: 102, message: 'cannot fail' },
    sleep: () => mssqlPool.request().query('select sleep 30'),
    bytes: 'of each',
    async transact() {
      const transaction = await mssqlPool.transaction().begin()
      await transaction.request().query('update users set one = 1') // mssql changes
      await transaction.commit()
    },
    callbacks: { 'a text': done => mssqlPool.request().query('select 1', done) }, // mssql calls back with a text
  },
  'Knex on tedious': {
    ask: async id => await knexedMssql('users').where({ id, password: 'hunter2' }), // Knex on tedious asks
    asked: {
      system: 'mssql',
      sql: 'select * from [users] where [id] = @p0 and [password] = @p1',
      parameters: [{ p0: 7, p1: '[masked]' }],
      rows: 1,
    },
    fail: async () => await knexedMssql.raw('fail'), // Knex on tedious fails
    thrown: { code: 'EREQUEST', message: 'fail - cannot fail' },
    sleep: async () => await knexedMssql.raw('select sleep 30'),
    bytes: 'of each',
    transact: () =>
      knexedMssql.transaction(async transaction => {
        await transaction('users').update({ one: 1 }) // Knex on tedious changes
      }),
  },
  MongoDB: {
    ask: id => museum.collection('art').findOne({ id, password: 'hunter2' }), // MongoDB asks
    asked: {
      system: 'mongodb',
      sql: 'find art',
      parameters: [{ filter: { id: 7, password: '[masked]' } }],
      rows: 1,
    },
    fail: () => museum.collection('fail').insertOne({}), // MongoDB fails
    thrown: { code: 13, message: 'cannot do that' },
  },
  'node-redis': {
    ask: id => redis.get(`user:${id}`), // node-redis asks
    asked: { system: 'redis', sql: 'get', parameters: ['user:7'], rows: 1 },
    fail: () => redis.get('fail'), // node-redis fails
    thrown: { message: /cannot do that/ },
  },
  ioredis: {
    ask: id => ioredis.get(`user:${id}`), // ioredis asks
    asked: { system: 'redis', sql: 'get', parameters: ['user:7'], rows: 1 },
    fail: () => ioredis.get('fail'), // ioredis fails
    thrown: { message: /cannot do that/ },
  },
}

for (const [name, { ask, asked, fail, thrown, sleep, transact, stream, bytes, callbacks = {} }] of Object.entries(
  libraries,
)) {
  t.test(`a query of ${name} is one, with its statement, parameters, rows, times and caller`, async t => {
    const { database, spans } = await profileOf(t, () => ask(7))
    const location = { line: lineOf(`${name} asks`) }
    t.match(database, { count: 1, failed: 0, queries: [{ ...asked, error: null, transaction: null, location }] })
    const { duration = null, blocked = 0 } = database?.queries[0] ?? {}
    t.ok(Number(duration) + blocked > 0)
    t.match(
      spans.filter(({ kind }) => kind === 'query'),
      [{ detail: asked.sql, outcome: 'continued', location }],
    )
  })

  t.test(`queries of ${name} that nobody awaits have their own parameters and caller, and are a loop`, async t => {
    const { database } = await profileOf(t, () => {
      for (let id = 1; id <= 5; id++) void ask(id)
    })
    t.match(database?.repetitions, [{ kind: 'loop', count: 5, locations: [{ line: lineOf(`${name} asks`) }] }])
    t.equal(new Set(database?.queries.map(({ parameters }) => JSON.stringify(parameters))).size, 5)
    t.ok(database?.queries.every(({ duration, rows }) => duration !== null && rows === asked.rows))
  })

  t.test(`of ${name}, the bytes of an answer are told ${bytes ?? 'never'}`, async t => {
    await ask(7)
    const { database } = await profileOf(t, async () => {
      await ask(7)
      await Promise.all([ask(7), ask(7), ask(7)])
      await ask(7)
    })
    const [first, ...others] = database?.queries.map(({ bytes }) => bytes) ?? []
    t.equal(Number(first) > 0 && Number(first) < 500, bytes !== undefined, `${first} bytes`)
    const those = bytes === 'alone' ? undefined : first
    t.strictSame(others, [those, those, those, first])
  })

  t.test(`the application gets the error of ${name} itself, and an unhandled one stays unhandled`, async t => {
    const errors: unknown[] = []
    const { database } = await profileOf(t, async () => {
      errors.push(await fail().catch((error: unknown) => error))
      const unhandled = new Promise(resolve => {
        process.once('unhandledRejection', resolve)
      })
      void fail()
      errors.push(await unhandled)
    })
    // Only who awaits a query is on the stack of its error.
    t.match(errors, [thrown, { ...thrown, stack: String }])
    const failed = { error: /cannot/, rows: null, location: { line: lineOf(`${name} fails`) } }
    t.match(database, { count: 2, failed: 2, queries: [failed, failed] })
  })

  if (sleep !== undefined) {
    t.test(`the wait for a connection of ${name} is separate from the duration of a query`, async t => {
      const { database, duration } = await profileOf(t, () => Promise.all([sleep(), sleep()]))
      const [first, second] = database?.queries ?? []
      const waited = Number(second?.waited)
      // A busy machine may block the event loop meanwhile, which is no wait.
      t.ok(waited + Number(second?.blocked) - Number(first?.waited) >= 15, JSON.stringify(database))
      t.ok(waited + Number(second?.duration) <= duration, 'no time is in both')
      t.equal(database?.waited, waited)
    })
  }

  if (transact !== undefined) {
    t.test(`the queries of a transaction of ${name} have its number, and their caller`, async t => {
      const { database } = await profileOf(t, transact)
      t.strictSame(
        database?.queries.map(({ transaction }) => transaction),
        [1, 1, 1],
      )
      t.equal(database?.queries[1]?.location?.line, lineOf(`${name} changes`))
    })
  }

  if (stream !== undefined) {
    t.test(`a stream of ${name} is a query until it ends, and is passed on as it is`, async t => {
      const { database } = await profileOf(t, async () => t.strictSame(await stream(), [{ one: '1' }]))
      t.match(database, { count: 1, queries: [{ error: null, location: { line: lineOf(`${name} streams`) } }] })
      t.ok(database?.queries[0]?.duration !== null)
    })
  }

  for (const [form, send] of Object.entries(callbacks)) {
    t.test(`a query of ${name} with ${form} and a callback has its caller, and calls back in its request`, async t => {
      let isSame = false
      const { database } = await profileOf(t, async () => {
        const recorder = currentRecorder()
        await new Promise<void>((resolve, reject) => {
          send(error => {
            isSame = recorder === currentRecorder()
            if (error) reject(error)
            else resolve()
          })
        })
      })
      t.ok(isSame)
      const line = lineOf(`${name} calls back with ${form}`)
      t.match(database, { count: 1, queries: [{ sql: 'select 1', rows: 1, location: { line } }] })
    })
  }
}
