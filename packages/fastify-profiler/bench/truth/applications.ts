import { built } from './builders.ts'
import type { Case } from './case.ts'
import { caches, mariadb } from './other-stores.ts'
import { ends, problems, rejects } from './other-problems.ts'
import { loops, shapes } from './plain-pg.ts'

/** The applications by their style, each in a process of its own. */
export const applications: Record<string, readonly Case[]> = {
  'pg: loops': loops,
  'pg: healthy': shapes,
  'Kysely and Knex': built,
  MariaDB: mariadb,
  Redis: caches,
  'other problems': problems,
  'a crash': rejects,
  'an exit': ends,
}
