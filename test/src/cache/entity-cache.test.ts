import t from 'tap'
import { ServiceUnavailableHttpError } from '../../../src/errors/http-errors.ts'
import { stopClock } from '../../support/clock.ts'
import { EntityCache, type EntityCacheOptions } from '../../../src/cache/entity-cache.ts'

const museums = { table: 'museums', columns: ['name'], key: 'id', joins: [] }
const rooms = { table: 'rooms', columns: ['name'], key: 'museum_id', joins: ['museums', 'floors'] }

/** A cache whose records count their loads. */
function counting(options?: EntityCacheOptions) {
  const cache = new EntityCache(options)
  const counter = () => {
    const loads = new Map<string, number>()
    return async (key: string) => {
      const count = (loads.get(key) ?? 0) + 1
      loads.set(key, count)
      return `${key}: ${count}`
    }
  }
  return { cache, museums: cache.segment(museums, counter()), rooms: cache.segment(rooms, counter()) }
}

/** A cache with one cached record and a database that can go down. */
async function failing(options: EntityCacheOptions) {
  const cache = new EntityCache(options)
  let loads = 0
  const database = { down: false, error: new Error('down') }
  const segment = cache.segment(museums, async () => {
    loads++
    if (database.down) throw database.error
    return `Louvre ${loads}`
  })
  await segment.read('1')
  return { cache, segment, database, loads: () => loads }
}

for (const [what, table, key, droppedMuseums, droppedRooms] of [
  ['a row drops the record under its key, and all that join its table', 'museums', '1', ['1'], ['1', '2']],
  ['a whole table drops all of its records', 'rooms', null, [], ['1', '2']],
  ['a joined table drops every record, whatever the key', 'floors', '7', [], ['1', '2']],
  ['a row that is not cached drops nothing', 'rooms', '3', [], []],
  ['an unknown table drops nothing', 'constructor', '1', [], []],
] as const) {
  t.test(`A change to ${what}`, async t => {
    const { cache, museums, rooms } = counting()
    for (const key of ['1', '2']) for (const segment of [museums, rooms]) await segment.read(key)
    cache.change(table, key)
    for (const [segment, dropped] of [
      [museums, droppedMuseums],
      [rooms, droppedRooms],
    ] as const) {
      for (const key of ['1', '2']) {
        t.equal(await segment.read(key), `${key}: ${dropped.some(each => each === key) ? 2 : 1}`)
      }
    }
  })
}

t.test('Segments with different columns have separate records', async t => {
  const cache = new EntityCache()
  const names = cache.segment({ ...museums, columns: ['name'] }, async () => 'Louvre')
  const streets = cache.segment({ ...museums, columns: ['street'] }, async () => 'Rue de Rivoli')
  t.equal(await names.read('1'), 'Louvre')
  t.equal(await streets.read('1'), 'Rue de Rivoli')
  t.equal(names.read('1'), 'Louvre')
})

t.test('While changes may be missed, a record is trusted for the short lifetime, and then read again', async t => {
  const letPass = stopClock(t)
  const { cache, museums } = counting({ deafLifetime: 200 })
  await museums.read('1')
  cache.deafen()
  letPass(199)
  t.equal(museums.read('1'), '1: 1')
  letPass(1)
  t.strictSame(await Promise.all([museums.read('1'), museums.read('1')]), ['1: 2', '1: 2'], 'concurrent reads share')
})

t.test('While the database is down, each record is retried once per lifetime', async t => {
  const letPass = stopClock(t)
  const { cache, segment, database, loads } = await failing({ deafLifetime: 200 })
  cache.deafen()
  database.down = true
  for (const [milliseconds, number] of [
    [199, 1],
    [1, 2],
    [199, 2],
    [1, 3],
  ] as const) {
    letPass(milliseconds)
    t.equal(await segment.read('1'), 'Louvre 1')
    t.equal(loads(), number)
  }
})

t.test('A record that is known to have changed is not served, even if the database is down', async t => {
  const { cache, segment, database } = await failing({ deafLifetime: 0 })
  cache.deafen()
  database.down = true
  cache.change('museums', '1')
  await t.rejects(Promise.resolve(segment.read('1')), { message: 'down' })
})

t.test('A record that changes during a failing load is not served', async t => {
  const { cache, segment, database } = await failing({ deafLifetime: 0 })
  cache.deafen()
  database.down = true
  const reading = segment.read('1')
  cache.change('museums', '1')
  await t.rejects(Promise.resolve(reading), { message: 'down' })
})

t.test('Once changes arrive again, new records are trusted', async t => {
  const { cache, museums } = counting({ deafLifetime: 0 })
  cache.deafen()
  cache.listen()
  await museums.read('1')
  t.equal(museums.read('1'), '1: 1')
})

t.test('A load that began before changes arrived again is not cached', async t => {
  const { cache, museums } = counting({ deafLifetime: 0 })
  cache.deafen()
  const reading = museums.read('1')
  cache.listen()
  t.equal(await reading, '1: 1')
  t.equal(await museums.read('1'), '1: 2')
})

t.test(
  'Records from before changes arrived again are served if changes are missed while the database is down',
  async t => {
    const { cache, segment, database } = await failing({ deafLifetime: 0 })
    database.down = true
    cache.deafen()
    cache.listen()
    await t.rejects(Promise.resolve(segment.read('1')), { message: 'down' })
    cache.deafen()
    t.equal(await segment.read('1'), 'Louvre 1')
  },
)

t.test('Records from before changes arrived again are served while queries are refused, and no longer', async t => {
  const { cache, segment, database } = await failing({ deafLifetime: 0 })
  database.down = true
  database.error = new ServiceUnavailableHttpError('busy', 1)
  cache.listen()
  t.equal(await segment.read('1'), 'Louvre 1')
  t.equal(await segment.read('1'), 'Louvre 1')
  database.down = false
  t.equal(await segment.read('1'), 'Louvre 4')
})

t.test('A load that fails just as changes arrive again falls back to the earlier record', async t => {
  const { cache, segment, database } = await failing({ deafLifetime: 3_600_000 })
  database.down = true
  database.error = new ServiceUnavailableHttpError('busy', 1)
  cache.listen()
  const readings = [segment.read('1')]
  cache.listen()
  readings.push(segment.read('1'))
  t.strictSame(await Promise.all(readings), ['Louvre 1', 'Louvre 1'])
})
