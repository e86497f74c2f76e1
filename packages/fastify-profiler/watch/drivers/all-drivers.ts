import { channelDriver } from './channels.ts'
import type { Driver } from './driver.ts'
import { drizzleDriver } from './drizzle.ts'
import { httpDriver } from './http.ts'
import { ioredisDriver } from './ioredis.ts'
import { knexDriver } from './knex.ts'
import { kyselyDriver } from './kysely.ts'
import { mongodbDriver } from './mongodb.ts'
import { mysql2Driver } from './mysql2.ts'
import { pgDriver } from './pg.ts'
import { redisDriver } from './redis.ts'
import { sqliteDriver } from './sqlite.ts'
import { undiciDriver } from './undici.ts'

/** To watch another library, add its file here. */
export const allDrivers: readonly Driver[] = [
  channelDriver,
  httpDriver,
  undiciDriver,
  pgDriver,
  mysql2Driver,
  kyselyDriver,
  knexDriver,
  drizzleDriver,
  mongodbDriver,
  ioredisDriver,
  redisDriver,
  sqliteDriver,
]
