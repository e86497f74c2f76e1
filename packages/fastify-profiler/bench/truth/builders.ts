import { type Case, healthy, planted } from './case.ts'
import { ids } from './plain-pg.ts'
import type { Stores } from './stores.ts'

async function findRooms({ kysely }: Stores, museum: number) {
  return kysely.selectFrom('rooms').select('title').where('museum_id', '=', museum).execute()
}

export const built: Case[] = [
  ...planted('repeats', {
    'kysely-loop': async ({ kysely }) => {
      for (const id of ids(9)) {
        await kysely.selectFrom('museums').selectAll().where('id', '=', id).executeTakeFirst()
      }
    },
    'kysely-all-at-once': async stores => {
      await Promise.all(ids(9).map(id => findRooms(stores, id)))
    },
    'kysely-lists-of-one': async ({ kysely }) => {
      for (const id of ids(6)) await kysely.selectFrom('rooms').selectAll().where('museum_id', 'in', [id]).execute()
    },
    'kysely-inserts': async ({ kysely }) => {
      await kysely.transaction().execute(async trx => {
        for (const id of ids(6)) {
          await trx
            .insertInto('visits')
            .values({ room_id: id, note: `Visit ${id}` })
            .execute()
        }
      })
    },
    'kysely-updates': async ({ kysely }) => {
      for (const id of ids(6)) await kysely.updateTable('rooms').set({ floor: 2 }).where('id', '=', id).execute()
    },
    'knex-loop': async ({ knex }) => {
      for (const id of ids(7)) await knex('museums').where({ id })
    },
    'knex-first': async ({ knex }) => {
      for (const id of ids(7)) await knex('rooms').where('museum_id', id).first('title')
    },
    'knex-all-at-once': async ({ knex }) => {
      await Promise.all(ids(7).map(async id => knex('rooms').where('museum_id', id).count()))
    },
    'knex-inserts': async ({ knex }) => {
      for (const id of ids(6)) await knex('visits').insert({ room_id: id })
    },
    'knex-raw': async ({ knex }) => {
      for (const id of ids(6)) await knex.raw('select * from museums where name = ?', [`Museum ${id}`])
    },
  }),
  ...healthy({
    'kysely-keyset-paging': async ({ kysely }) => {
      let last = 0
      for (let page = 0; page < 6; page++) {
        const rows = await kysely
          .selectFrom('rooms')
          .select('id')
          .where('id', '>', last)
          .orderBy('id')
          .limit(9)
          .execute()
        last = rows.at(-1)?.id ?? last
      }
    },
    'kysely-walk': async ({ kysely }) => {
      let id: number | null = 88
      for (let step = 0; step < 6; step++) {
        const row = await kysely
          .selectFrom('museums')
          .select('next')
          .where('id', '=', id ?? 1)
          .executeTakeFirstOrThrow()
        id = row.next
      }
    },
    'kysely-rows': async ({ kysely }) => {
      for (const id of ids(6)) {
        await kysely
          .insertInto('visits')
          .values([{ room_id: id }, { room_id: id * 2 }])
          .execute()
      }
    },
    'kysely-chunks': async ({ kysely }) => {
      for (const chunk of ids(6)) {
        const list = ids(5).map(id => id + chunk * 5)
        await kysely.selectFrom('rooms').selectAll().where('id', 'in', list).execute()
      }
    },
    'kysely-transactions': async ({ kysely }) => {
      for (let turn = 0; turn < 6; turn++) await kysely.transaction().execute(async () => {})
    },
    'knex-walk': async ({ knex }) => {
      let id = 88
      for (let step = 0; step < 6; step++) {
        const row = await knex('museums').where({ id }).first('next')
        id = row.next
      }
    },
    'knex-rows': async ({ knex }) => {
      for (const id of ids(6)) await knex('visits').insert([{ room_id: id }, { room_id: id * 2 }])
    },
    'knex-batches': async ({ knex }) => {
      await knex.batchInsert(
        'visits',
        ids(30).map(id => ({ room_id: id })),
        5,
      )
    },
    'knex-lists': async ({ knex }) => {
      for (const chunk of ids(6)) await knex('rooms').whereIn('id', [chunk, chunk * 10, chunk * 100])
    },
    'knex-offset-paging': async ({ knex }) => {
      for (let page = 0; page < 6; page++) {
        await knex('rooms')
          .orderBy('id')
          .limit(10)
          .offset(page * 10)
      }
    },
  }),
]
