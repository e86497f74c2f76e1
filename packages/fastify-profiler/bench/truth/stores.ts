import { Redis } from 'ioredis'
import knex, { type Knex } from 'knex'
import { type Generated, Kysely, PostgresDialect } from 'kysely'
import mysql from 'mysql2/promise'
import pg from 'pg'

/** The tables of the planted problems. */
export interface Tables {
  museums: { id: Generated<number>; name: string; parent: number | null; next: number | null }
  rooms: { id: Generated<number>; museum_id: number; floor: number; title: string }
  visits: { id: Generated<number>; room_id: number; note: string | null }
}

/** What the applications ask. MariaDB and Redis are null where they cannot be reached. */
export interface Stores {
  pool: pg.Pool
  /** A pool of two connections. */
  small: pg.Pool
  kysely: Kysely<Tables>
  knex: Knex
  mysql: mysql.Pool | null
  redis: Redis | null
  /** The origin of another service. */
  neighbour: string
}

/** The name of the PostgreSQL schema, of the MariaDB database, and of the prefix in Redis. */
export const schema = `truth_${process.env.TRUTH_ID}`

export const {
  POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/postgres',
  MYSQL_URL = 'mysql://root@127.0.0.1:3306',
  REDIS_URL = 'redis://127.0.0.1:6379',
} = process.env

/** Museums are a chain by `next`, and a binary tree by `parent`. Each has four rooms. */
const create = [
  `create table museums as select n as id, 'Museum ' || n as name, n / 2 as parent, (n * 21 + 37) % 200 + 1 as next from generate_series(1, 200) n`,
  `alter table museums add primary key (id)`,
  `create index on museums (parent)`,
  `create table rooms (id serial primary key, museum_id int, floor int, title text)`,
  `insert into rooms (museum_id, floor, title) select n % 200 + 1, n % 3, 'Room ' || n from generate_series(0, 799) n`,
  `create index on rooms (museum_id)`,
  `create table visits (id serial primary key, room_id int, note text)`,
  `create table halls as select n as id, md5(n::text) as name from generate_series(1, 60000) n`,
]

const options = { connectionString: POSTGRES_URL, options: `-c search_path=${schema}` }

export function openPool(): pg.Pool {
  return new pg.Pool({ ...options, max: 8 })
}

export async function openStores(): Promise<Stores> {
  const pool = openPool()
  // A process that has crashed leaves them.
  await pool.query(`drop schema if exists ${schema} cascade; create schema ${schema}`)
  for (const statement of create) await pool.query(statement)
  return {
    pool,
    small: new pg.Pool({ ...options, max: 2 }),
    kysely: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }),
    knex: knex({ client: 'pg', connection: POSTGRES_URL, searchPath: [schema] }),
    mysql: await openMysql().catch(() => null),
    redis: await openRedis().catch(() => null),
    neighbour: process.env.NEIGHBOUR ?? '',
  }
}

async function openMysql(): Promise<mysql.Pool> {
  const pool = mysql.createPool({ uri: MYSQL_URL, multipleStatements: true })
  await pool.query(`drop database if exists ${schema}; create database ${schema}; use ${schema};
    create table rooms (id int primary key, museum_id int, title varchar(50));
    insert into rooms select seq, seq % 50, concat('Room ', seq) from seq_1_to_200;
    create table visits (id int auto_increment primary key, room_id int)`)
  await pool.end()
  return mysql.createPool({ uri: `${MYSQL_URL}/${schema}` })
}

async function openRedis(): Promise<Redis> {
  const redis = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: () => null, keyPrefix: `${schema}:` })
  redis.on('error', () => {})
  await redis.connect()
  for (let room = 1; room <= 20; room++) await redis.set(`room:${room}`, `room:${room + 1}`, 'EX', 600)
  for (let room = 1; room <= 20; room++) await redis.hset(`hall:${room}`, { title: 'Hall', floor: room })
  return redis
}

export async function closeStores({ knex, mysql, pool, redis, small }: Stores): Promise<void> {
  await pool.query(`drop schema ${schema} cascade`)
  await mysql?.query(`drop database ${schema}`)
  const keys = (await redis?.keys(`${schema}:*`)) ?? []
  // Keys come with the prefix, which is added again.
  for (const key of keys) await redis?.del(key.slice(schema.length + 1))
  await Promise.all([pool.end(), small.end(), knex.destroy(), mysql?.end(), redis?.quit()])
}
