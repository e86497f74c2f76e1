import { setTimeout } from 'node:timers/promises'
import type { Pool, QueryResult } from 'pg'
import { type Case, healthy, planted } from './case.ts'

/** The ids from 1 to a number. */
export function ids(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

interface Row {
  id: number
  parent: number
  next: number
}

const byId = 'select id, name from museums where id = $1'

/** All statements of an application go through one such function. */
async function query(pool: Pool, sql: string, values: readonly unknown[]): Promise<Row[]> {
  const { rows } = await pool.query(sql, [...values])
  return rows
}

async function findMuseum(pool: Pool, id: number): Promise<Row | undefined> {
  const { rows } = await pool.query<Row>('select id, name, next from museums where id = $1', [id])
  return rows[0]
}

async function visit(pool: Pool, id: number, depth: number): Promise<number> {
  const { rows } = await pool.query<Row>('select id from museums where parent = $1 order by id', [id])
  let count = rows.length
  if (depth > 0) for (const row of rows) count += await visit(pool, row.id, depth - 1)
  return count
}

async function climb(pool: Pool, id: number): Promise<number> {
  const { rows } = await pool.query<Row>('select parent from museums where id = $1', [id])
  const parent = rows[0]?.parent ?? 0
  return parent === 0 ? id : climb(pool, parent)
}

async function* museums(pool: Pool): AsyncGenerator<Row> {
  const { rows } = await pool.query<Row>('select * from museums order by id desc limit 8')
  yield* rows
}

/** As pg-promise, Sequelize and MikroORM write values. */
function literal(value: unknown): string {
  return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`
}

/** Runs in a transaction. */
export async function transaction(pool: Pool, run: (client: Pick<Pool, 'query'>) => Promise<unknown>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await run(client)
    await client.query('commit')
  } finally {
    client.release()
  }
}

export const loops: Case[] = [
  ...planted('repeats', {
    'loop-over-list': async ({ pool }) => {
      const { rows } = await pool.query<Row>('select id from museums order by name limit 20')
      for (const { id } of rows) await pool.query('select title from rooms where museum_id = $1', [id])
    },
    'loop-of-five': async ({ pool }) => {
      for (const id of [3, 17, 20, 21, 90]) await pool.query(byId, [id])
    },
    'loop-all-at-once': async ({ pool }) => {
      await Promise.all(ids(12).map(id => pool.query(byId, [id])))
    },
    'loop-nested': async ({ pool }) => {
      for (const museum of ids(3)) {
        for (const floor of ids(3)) {
          await pool.query('select title from rooms where museum_id = $1 and floor = $2', [museum, floor])
        }
      }
    },
    'loop-recursive': async ({ pool }) => visit(pool, 1, 3),
    'loop-literal-numbers': async ({ pool }) => {
      for (const id of ids(9)) await pool.query(`select * from museums where id = ${literal(id)}`)
    },
    'loop-literal-texts': async ({ pool }) => {
      for (const id of ids(9)) await pool.query(`select * from museums where name = ${literal(`Museum's ${id}`)}`)
    },
    'loop-literal-names': async ({ pool }) => {
      for (const id of ids(7)) {
        await pool.query(
          `SELECT "Museum"."id", "Museum"."name" FROM "museums" AS "Museum" WHERE "Museum"."id" = ${id} LIMIT 1;`,
        )
      }
    },
    'loop-literal-casts': async ({ pool }) => {
      for (const id of ids(7)) await pool.query(`select * from museums where id = '${id}'::int`)
    },
    'loop-casts': async ({ pool }) => {
      for (const id of ids(7)) await pool.query('select * from museums where id = $1::int', [String(id)])
    },
    'loop-lists-of-one': async ({ pool }) => {
      for (const id of ids(8)) await pool.query('select * from museums where id in ($1)', [id])
    },
    'loop-arrays-of-one': async ({ pool }) => {
      for (const id of ids(8)) await pool.query('select * from museums where id = any($1)', [[id]])
    },
    'loop-growing-lists': async ({ pool }) => {
      for (const id of ids(8)) await pool.query(`select * from museums where id in (${ids(id).join(', ')})`)
    },
    'loop-with-constant-list': async ({ pool }) => {
      for (const id of ids(8)) {
        await pool.query('select * from rooms where museum_id = $1 and floor in ($2, $3)', [id, 0, 1])
      }
    },
    'loop-chained': async ({ pool }) => {
      await ids(6).reduce<Promise<unknown>>(
        (before, id) => before.then(() => pool.query(byId, [id])),
        Promise.resolve(),
      )
    },
    'loop-generator': async ({ pool }) => {
      for await (const { id } of museums(pool)) {
        await pool.query('select count(*) from rooms where museum_id = $1', [id])
      }
    },
    'loop-of-pairs': async ({ pool }) => {
      for (const id of ids(6)) {
        await pool.query(byId, [id * 3])
        await pool.query('select title from rooms where museum_id = $1', [id * 3])
      }
    },
    'loop-in-transaction': async ({ pool }) => {
      await transaction(pool, async client => {
        for (const id of ids(10)) await client.query('select * from rooms where museum_id = $1 for share', [id * 7])
      })
    },
    'loop-newest': async ({ pool }) => {
      for (const id of ids(6)) {
        await pool.query('select * from rooms where museum_id = $1 order by id desc limit 1', [id])
      }
    },
    'loop-exists': async ({ pool }) => {
      for (const id of ids(6)) await pool.query('select exists (select 1 from rooms where museum_id = $1)', [id])
    },
    'loop-joins': async ({ pool }) => {
      for (const id of ids(6)) {
        await pool.query('select m.name, r.title from museums m join rooms r on r.museum_id = m.id where m.id = $1', [
          id,
        ])
      }
    },
    'loop-with-other-work': async ({ neighbour, pool }) => {
      for (const id of ids(5)) {
        await pool.query(byId, [id * 11])
        await fetch(`${neighbour}/fine`).then(response => response.text())
      }
    },
    'loop-inserts': async ({ pool }) => {
      for (const id of ids(8)) await pool.query('insert into visits (room_id, note) values ($1, $2)', [id, 'fine'])
    },
    'loop-inserts-in-transaction': async ({ pool }) => {
      await transaction(pool, async client => {
        for (const id of ids(8)) await client.query('insert into visits (room_id) values ($1) returning id', [id * 50])
      })
    },
    'loop-updates': async ({ pool }) => {
      for (const id of ids(6)) await pool.query('update rooms set title = $2 where id = $1', [id, `Room ${id}`])
    },
    'loop-deletes': async ({ pool }) => {
      for (const id of ids(6)) await pool.query('delete from visits where room_id = $1', [id * 1000])
    },
  }),
  {
    name: 'loop-through-wrapper',
    expects: 'repeats',
    at: 'calls the wrapper',
    async run({ pool }) {
      await query(pool, 'select title from rooms where id = $1', [9])
      await query(pool, 'select note from visits where id = $1', [9])
      for (const id of ids(6)) {
        await query(pool, 'select name from museums where id = $1', [id]) // calls the wrapper
      }
    },
  },
  {
    name: 'loop-through-repository',
    expects: 'repeats',
    at: 'calls the repository',
    async run({ pool }) {
      for (const id of ids(6)) {
        await findMuseum(pool, id * 5) // calls the repository
      }
    },
  },
]

export const shapes: Case[] = healthy({
  'array-once': async ({ pool }) => pool.query('select * from museums where id = any($1)', [ids(20)]),
  'arrays-in-chunks': async ({ pool }) => {
    for (const chunk of ids(6)) {
      await pool.query('select * from rooms where id = any($1)', [ids(20).map(id => id + chunk * 20)])
    }
  },
  'lists-in-chunks': async ({ pool }) => {
    for (const chunk of ids(6)) {
      const list = ids(4).map(id => id + chunk * 4)
      await pool.query('select * from rooms where id in ($1, $2, $3, $4)', list)
    }
  },
  'lists-of-many-lengths': async ({ pool }) => {
    for (const length of [3, 8, 5, 9, 4, 7]) {
      await pool.query(`select * from rooms where id in (${ids(length).map(id => id * length)})`)
    }
  },
  'insert-arrays': async ({ pool }) => {
    for (const chunk of ids(6)) {
      await pool.query('insert into visits (room_id) select * from unnest($1::int[])', [[chunk, chunk + 1, chunk + 2]])
    }
  },
  'insert-rows': async ({ pool }) => {
    for (const chunk of ids(6)) {
      await pool.query('insert into visits (room_id) values ($1), ($2), ($3)', [chunk, chunk * 2, chunk * 3])
    }
  },
  'insert-rows-with-defaults': async ({ pool }) => {
    for (const chunk of ids(6)) {
      await pool.query(`insert into visits (room_id, note) values (${chunk}, now()), (${chunk + 9}, now())`)
    }
  },
  'insert-json': async ({ pool }) => {
    for (const chunk of ids(6)) {
      const rows = JSON.stringify([{ room_id: chunk }, { room_id: chunk + 1 }])
      await pool.query('insert into visits (room_id) select room_id from json_to_recordset($1) as v(room_id int)', [
        rows,
      ])
    }
  },
  'update-arrays': async ({ pool }) => {
    for (const floor of ids(6)) {
      await pool.query('update rooms set floor = $1 where id = any($2)', [floor, [floor * 9, floor * 9 + 1]])
    }
  },
  'delete-arrays': async ({ pool }) => {
    for (const chunk of ids(6)) {
      await pool.query('delete from visits where id = any($1)', [[chunk * 9000, chunk * 9000 + 1]])
    }
  },
  savepoints: async ({ pool }) => {
    await transaction(pool, async client => {
      for (const id of ids(6)) {
        await client.query(`savepoint s${id}`)
        await client.query(`release savepoint s${id}`)
      }
    })
  },
  'many-transactions': async ({ pool }) => {
    for (let turn = 0; turn < 6; turn++) await transaction(pool, async () => {})
  },
  'set-local': async ({ pool }) => {
    await transaction(pool, async client => {
      for (const id of ids(6)) await client.query(`set local application_name = 'tenant ${id}'`)
      for (const id of ids(6)) await client.query("select set_config('app.tenant', $1, true)", [String(id)])
    })
  },
  cursor: async ({ pool }) => {
    await transaction(pool, async client => {
      await client.query('declare c cursor for select * from rooms')
      for (const size of ids(6)) await client.query(`fetch ${size * 10} from c`)
    })
  },
  'keyset-paging': async ({ pool }) => {
    let last = 0
    for (let page = 0; page < 7; page++) {
      const { rows } = await pool.query<Row>('select id, title from rooms where id > $1 order by id limit 10', [last])
      last = rows.at(-1)?.id ?? last
    }
  },
  'keyset-paging-with-literals': async ({ pool }) => {
    let last = 0
    for (let page = 0; page < 7; page++) {
      const { rows } = await pool.query<Row>(`select id from rooms where id > ${last} order by id limit 10`)
      last = rows.at(-1)?.id ?? last
    }
  },
  'offset-paging': async ({ pool }) => {
    for (let page = 0; page < 6; page++) {
      await pool.query('select id from rooms order by id limit 10 offset $1', [page * 10])
    }
  },
  'walk-up': async ({ pool }) => climb(pool, 197),
  'walk-along': async ({ pool }) => {
    let id = 31
    for (let step = 0; step < 9; step++) id = (await findMuseum(pool, id))?.next ?? 1
  },
  'walk-with-literals': async ({ pool }) => {
    let id = 60
    for (let step = 0; step < 9; step++) {
      const { rows } = await pool.query<Row>(`select next from museums where id = ${id}`)
      id = rows[0]?.next ?? 1
    }
  },
  'walk-by-two-statements': async ({ pool }) => {
    let id = 70
    for (let step = 0; step < 6; step++) {
      const { rows } = await pool.query('select museum_id as museum from rooms where id = $1', [id])
      const found = await pool.query('select next as room from museums where id = $1', [rows[0].museum])
      id = found.rows[0].room
    }
  },
  'levels-by-arrays': async ({ pool }) => {
    let level = [1]
    for (let depth = 0; depth < 6; depth++) {
      const { rows } = await pool.query<Row>('select id from museums where parent = any($1)', [level])
      level = rows.map(({ id }) => id)
    }
  },
  'levels-by-lists': async ({ pool }) => {
    let level = [1]
    for (let depth = 0; depth < 6; depth++) {
      const { rows } = await pool.query<Row>(`select id from museums where parent in (${level.join(', ')})`)
      level = rows.map(({ id }) => id)
    }
  },
  polling: async ({ pool }) => {
    for (let turn = 0; turn < 6; turn++) {
      await pool.query('select floor from rooms where id = $1', [12])
      await setTimeout(15)
    }
  },
  'four-only': async ({ pool }) => {
    for (const id of ids(4)) await pool.query(byId, [id])
  },
  'five-lines': async ({ pool }) => {
    await pool.query(byId, [10])
    await pool.query(byId, [24])
    await pool.query(byId, [31])
    await pool.query(byId, [47])
    await pool.query(byId, [58])
  },
  'five-lines-through-wrapper': async ({ pool }) => {
    await query(pool, 'select title from rooms where id = $1', [5])
    await query(pool, byId, [10])
    await query(pool, byId, [24])
    await query(pool, byId, [31])
    await query(pool, byId, [47])
    await query(pool, byId, [58])
  },
  'five-statements-of-a-line': async ({ pool }) => {
    for (const column of ['id', 'name', 'parent', 'next', 'id, name']) {
      await pool.query(`select ${column} from museums where id = $1`, [7])
    }
  },
  sequence: async ({ pool }) => {
    for (let turn = 0; turn < 6; turn++) await pool.query("select nextval('visits_id_seq')")
  },
  'take-jobs': async ({ pool }) => {
    for (let turn = 0; turn < 6; turn++) {
      await pool.query('select id from visits order by id limit 1 for update skip locked')
    }
  },
  'read-after-write': async ({ pool }) => {
    await pool.query('select * from visits where id = $1', [1])
    await pool.query('update visits set note = $1 where id = $2', ['seen', 1])
    await pool.query('select * from visits where id = $1', [1])
  },
  'allowed-loop': async ({ pool }) => {
    for (const id of ids(6)) await pool.query('select * from museums where id = $1 /* profiler: allow */', [id])
  },
  'locks-in-order': async ({ pool }) => {
    await transaction(pool, async client => {
      for (const id of ids(6)) await client.query('select pg_advisory_xact_lock($1)', [id])
    })
  },
  dataloader: async ({ pool }) => {
    const asked: number[] = []
    let batch: Promise<QueryResult<Row>> | null = null
    const load = async (id: number) => {
      asked.push(id)
      batch ??= Promise.resolve().then(() => pool.query<Row>('select * from museums where id = any($1)', [asked]))
      return (await batch).rows.find(row => row.id === id)
    }
    await Promise.all(ids(20).map(load))
  },
})
