import { setTimeout } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Case, healthy, planted } from './case.ts'
import { ids, transaction } from './plain-pg.ts'

function burn(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}

const text = async (url: string) => (await fetch(url)).text()

const rows: Record<string, Case['run']> = {
  'calls-in-a-row': async ({ neighbour }) => {
    await text(`${neighbour}/calm`)
    await text(`${neighbour}/calm/prices`)
    await text(`${neighbour}/calm/dates`)
  },
  'queries-in-a-row': async ({ pool }) => {
    await pool.query('select pg_sleep(0.03) from museums where id = 1')
    await pool.query('select pg_sleep(0.008) from rooms where id = 1')
  },
}

/** A hook that greets. Each is another function of the same name. */
function greeter(greeting: string) {
  return async function greet(_request: FastifyRequest, reply: FastifyReply) {
    reply.header(`x-${greeting}`, greeting)
  }
}

const hello = greeter('hello')

export const problems: Case[] = [
  { name: 'greets-twice', expects: 'hook twice', options: { preHandler: [hello, hello] }, run: () => 'done' },
  {
    name: 'greets-in-two-ways',
    expects: null,
    options: { preHandler: [hello, greeter('welcome')], onRequest: hello },
    run: () => 'done',
  },
  ...planted('open transaction', {
    'call-in-transaction': async ({ neighbour, pool }) =>
      transaction(pool, async client => {
        await client.query('update rooms set floor = 1 where id = 1')
        await text(`${neighbour}/calm`)
        await client.query('update rooms set floor = 2 where id = 1')
      }),
    'call-before-commit': async ({ kysely, neighbour }) =>
      kysely.transaction().execute(async trx => {
        await trx.insertInto('visits').values({ room_id: 4 }).execute()
        await text(`${neighbour}/calm`)
      }),
    'sleeps-in-transaction': async ({ pool }) =>
      transaction(pool, async client => {
        await client.query('select floor from rooms where id = 1 for update')
        await setTimeout(80)
      }),
  }),
  ...planted('slow query', {
    'one-slow-query': async ({ pool }) => pool.query('select pg_sleep(0.06) from museums where id = 1'),
    'a-slow-query-among-others': async ({ pool }) => {
      await pool.query('select * from museums where id = 1')
      await pool.query('select pg_sleep(0.08) from rooms where id = 1')
      await pool.query('select * from visits where id = 1')
    },
    'a-slow-query-of-a-builder': async ({ knex }) => knex('museums').where('id', 1).select(knex.raw('pg_sleep(0.06)')),
  }),
  ...planted('equal queries', {
    'asked-three-times': async ({ pool }) => {
      for (let turn = 0; turn < 3; turn++) await pool.query('select * from museums where id = $1', [5])
    },
    'asked-at-once': async ({ kysely }) => {
      const find = async () => kysely.selectFrom('museums').selectAll().where('id', '=', 8).execute()
      await Promise.all([find(), find(), find(), find(), find(), find()])
    },
  }),
  ...planted('failed query', {
    'swallowed-query': async ({ pool }) => {
      try {
        return (await pool.query('select * from no_such_table')).rows
      } catch {
        return []
      }
    },
    'swallowed-among-others': async ({ pool }) => {
      await Promise.allSettled([
        pool.query('select * from museums where id = 1'),
        pool.query('select no_such_column from museums'),
      ])
    },
    'swallowed-by-builder': async ({ kysely }) => {
      await kysely
        .insertInto('visits')
        .values({ room_id: Number.MAX_SAFE_INTEGER })
        .execute()
        .catch(() => null)
    },
    'swallowed-by-knex': async ({ knex }) => knex('no_such_table').catch(() => []),
    'swallowed-timeout': async ({ pool }) => {
      const client = await pool.connect()
      await client.query('set statement_timeout = 20')
      await client.query('select pg_sleep(1)').catch(() => null)
      await client.query('reset statement_timeout')
      client.release()
    },
  }),
  ...planted('failed call', {
    'swallowed-503': async ({ neighbour }) => text(`${neighbour}/broken`),
    'swallowed-refusal': async ({ neighbour }) => text(`${neighbour}/forbidden`),
    'swallowed-reset': async ({ neighbour }) => text(`${neighbour}/reset`).catch(() => 'nothing'),
    'swallowed-timeout-of-call': async ({ neighbour }) =>
      fetch(`${neighbour}/slow`, { signal: AbortSignal.timeout(30) })
        .then(response => response.text())
        .catch(() => 'nothing'),
    'nobody-listens': async () => text('http://127.0.0.1:2/prices').catch(() => 'nothing'),
  }),
  ...planted('after the response', {
    'fails-late': async ({ pool }) => {
      void setTimeout(1500).then(() => pool.query('insert into no_such_table values (1)').catch(() => null))
    },
    'call-fails-late': async ({ neighbour }) => {
      void setTimeout(1500).then(() => text(`${neighbour}/broken`))
    },
    'begins-late': async ({ pool }) => {
      void setTimeout(1600).then(() => pool.query('insert into visits (room_id) values (1)'))
    },
    'logs-an-error-late': async (_stores, { log }) => {
      void setTimeout(1500).then(() => log.error('The museum burns'))
    },
    'fails-unawaited': async ({ pool }) => {
      void pool.query('select pg_sleep(0.05) from museums where id = 1 and 1 / (id - 1) = 1').catch(() => null)
    },
    'never-awaited': async ({ pool }) => {
      void pool.query('select pg_sleep(0.1), * from museums where id = 1')
    },
  }),
  ...planted('caught 5xx', {
    'caught-by-handler': async (_stores, reply) => {
      try {
        throw new Error('The museum burns')
      } catch {
        return reply.code(500).send({ error: 'Internal' })
      }
    },
    'sent-503': async (_stores, reply) => reply.code(503).send({ error: 'Come back later' }),
  }),
  ...planted('waits in a row', rows),
  ...planted('waits in a row', rows).map(planted => ({ ...planted, name: `${planted.name}-under-load`, atOnce: 8 })),
  ...planted('blocked loop', {
    'burns-during-query': async ({ pool }) => {
      const query = pool.query('select * from museums where id = 1')
      burn(120)
      await query
    },
    'burns-in-chunks': async () => {
      for (let chunk = 0; chunk < 4; chunk++) {
        burn(40)
        await setTimeout(2)
      }
    },
    'burns-between-queries': async ({ pool }) => {
      await pool.query('select * from museums where id = 1')
      burn(120)
      await pool.query('select * from rooms where id = 1')
    },
  }),
  ...planted('busy pool', {
    'pool-of-two': async ({ small }) => {
      await Promise.all(ids(6).map(async id => small.query(`select pg_sleep(0.04), ${id}`)))
    },
  }),
  ...healthy({
    'one-quick-query': async ({ pool }) => pool.query('select * from museums where id = 1'),
    nothing: () => 'nothing',
    'calls-at-once': async ({ neighbour }) =>
      Promise.all([text(`${neighbour}/fine`), text(`${neighbour}/fine/prices`), text(`${neighbour}/fine/dates`)]),
    'call-that-finds-nothing': async ({ neighbour }) => text(`${neighbour}/missing`),
    'call-again': async ({ neighbour }) => {
      const response = await fetch(`${neighbour}/flaky`)
      await response.text()
      return response.ok ? 'at once' : text(`${neighbour}/flaky`)
    },
    'query-again': async ({ pool }) => {
      const ask = async (turn: number) => {
        const client = await pool.connect()
        try {
          await client.query(`set statement_timeout = ${turn === 1 ? 5 : 1000}`)
          return await client.query('select pg_sleep(0.008)')
        } finally {
          await client.query('reset statement_timeout')
          client.release()
        }
      }
      return ask(1).catch(() => ask(2))
    },
    'one-after-the-other': async ({ pool }) => {
      const { rows } = await pool.query('select id from rooms where title = $1 limit 1', ['Room 5'])
      const found = await pool.query('select museum_id as museum from rooms where id = $1', [rows[0].id])
      return pool.query('select name from museums where id = $1', [found.rows[0].museum])
    },
    'three-writes': async ({ kysely }) =>
      kysely.transaction().execute(async trx => {
        await trx.insertInto('visits').values({ room_id: 4 }).execute()
        await trx.updateTable('rooms').set({ floor: 1 }).where('id', '=', 4).execute()
        await trx.updateTable('museums').set({ name: 'Museum 4' }).where('id', '=', 4).execute()
      }),
    'call-beside-transaction': async ({ neighbour, pool }) =>
      Promise.all([
        text(`${neighbour}/calm`),
        transaction(pool, async client => client.query('select pg_sleep(0.008) from rooms where id = 1')),
      ]),
    'call-after-transaction': async ({ neighbour, pool }) => {
      await transaction(pool, async client => client.query('update rooms set floor = 1 where id = 2'))
      return text(`${neighbour}/calm`)
    },
    'a-timer-afterwards': async () => {
      void setTimeout(1500).then(() => 'nothing')
    },
    'logs-afterwards': async (_stores, { log }) => {
      void setTimeout(1500).then(() => log.info('The museum closes'))
    },
    refused: async (_stores, reply) => reply.code(404).send({ error: 'No such museum' }),
    'new-connection': async ({ small }) => small.query('select 1'),
  }),
]

/** Ends the process by an error that nobody catches. */
export const rejects: Case[] = planted('crash', {
  'rejects-late': async ({ pool }) => {
    void setTimeout(1500).then(() => pool.query('insert into no_such_table values (1)'))
  },
}).map(crash => ({ ...crash, isFatal: true }))

/** Ends the process on purpose. */
export const ends: Case[] = healthy({
  'exits-late': async () => {
    void setTimeout(1500).then(() => process.exit(1))
  },
}).map(end => ({ ...end, isFatal: true }))
