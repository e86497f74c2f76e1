import { type Case, healthy, planted } from './case.ts'
import { ids } from './plain-pg.ts'

/** Those that run only where MariaDB can be reached. */
export const mariadb: Case[] = [
  ...planted('repeats', {
    'mysql-loop': async ({ mysql }) => {
      for (const id of ids(7)) await mysql?.query('select title from rooms where id = ?', [id])
    },
    'mysql-execute': async ({ mysql }) => {
      for (const id of ids(7)) await mysql?.execute('select title from rooms where museum_id = ?', [id])
    },
    'mysql-literals': async ({ mysql }) => {
      for (const id of ids(7)) await mysql?.query(`SELECT * FROM \`rooms\` WHERE \`rooms\`.\`id\` = ${id}`)
    },
    'mysql-inserts': async ({ mysql }) => {
      for (const id of ids(6)) await mysql?.query('insert into visits set ?', [{ room_id: id }])
    },
  }),
  ...healthy({
    'mysql-lists': async ({ mysql }) => {
      for (const id of ids(6)) await mysql?.query('select * from rooms where id in (?)', [[id, id * 2, id * 3]])
    },
    'mysql-rows': async ({ mysql }) => {
      for (const id of ids(6)) await mysql?.query('insert into visits (room_id) values ?', [[[id], [id * 2]]])
    },
    'mysql-keyset-paging': async ({ mysql }) => {
      let last = 0
      for (let page = 0; page < 6; page++) {
        const [rows] = (await mysql?.query('select id from rooms where id > ? order by id limit 5', [last])) ?? []
        last = Array.isArray(rows) ? Number(Reflect.get(rows.at(-1) ?? {}, 'id')) : last
      }
    },
  }),
]

/** Those that run only where Redis can be reached. */
export const caches: Case[] = [
  ...planted('repeats', {
    'redis-gets': async ({ redis }) => {
      for (const id of ids(8)) await redis?.get(`room:${id * 2}`)
    },
    'redis-all-at-once': async ({ redis }) => {
      await Promise.all(ids(8).map(id => redis?.get(`room:${id}`)))
    },
    'redis-hashes': async ({ redis }) => {
      for (const id of ids(8)) await redis?.hgetall(`hall:${id}`)
    },
    'redis-sets': async ({ redis }) => {
      for (const id of ids(8)) await redis?.set(`seen:${id}`, 'yes', 'EX', 60)
    },
  }),
  ...planted('cache misses', {
    'redis-only-misses': async ({ pool, redis }) => {
      for (const id of ids(5)) await redis?.get(`museum:${id}`)
      await pool.query('select * from museums where id = any($1)', [ids(5)])
    },
    'redis-mget-misses': async ({ pool, redis }) => {
      await redis?.mget(ids(4).map(id => `museum:${id}`))
      await pool.query('select * from museums where id = any($1)', [ids(4)])
    },
    'redis-hashes-of-others': async ({ redis }) => {
      for (const id of ids(4)) await redis?.hget(`guide:${id}:fr`, 'name')
    },
  }),
  ...healthy({
    'redis-read-through': async ({ pool, redis }) => {
      for (const id of ids(4)) {
        const known = await redis?.get(`painting:${id}`)
        if (known != null) continue
        const { rows } = await pool.query('select * from museums where id = $1', [id])
        await redis?.set(`painting:${id}`, JSON.stringify(rows), 'EX', 60)
      }
    },
    'redis-some-misses': async ({ redis }) => redis?.mget(['room:1', 'room:998', 'room:999']),
    'redis-not-revoked': async ({ redis }) => redis?.exists('revoked:1', 'revoked:2', 'revoked:3'),
    'redis-mget': async ({ redis }) => redis?.mget(ids(8).map(id => `room:${id}`)),
    'redis-pipeline': async ({ redis }) => {
      const pipeline = redis?.pipeline()
      for (const id of ids(8)) pipeline?.get(`room:${id}`)
      await pipeline?.exec()
    },
    'redis-scan': async ({ redis }) => {
      let cursor = '0'
      for (let turn = 0; turn < 8; turn++) [cursor] = (await redis?.scan(cursor, 'COUNT', 2)) ?? ['0']
    },
    'redis-walk': async ({ redis }) => {
      let key = 'room:1'
      for (let step = 0; step < 8; step++) key = (await redis?.get(key)) ?? 'room:1'
    },
    'redis-counter': async ({ redis }) => {
      for (let turn = 0; turn < 6; turn++) await redis?.incr('counter')
    },
    'redis-limits': async ({ redis }) => {
      for (const id of ids(6)) await redis?.eval("return redis.call('incr', KEYS[1])", 1, `limit:${id}`)
    },
    'redis-messages': async ({ redis }) => {
      for (const id of ids(6)) await redis?.publish(`room:${id}`, 'open')
    },
    'redis-hit': async ({ redis }) => redis?.get('room:3'),
  }),
]
