import t from 'tap'
import { ServiceUnavailableHttpError } from '../../../src/errors/http-errors.ts'
import { Store, type StoreOptions } from '../../../src/cache/store.ts'

const museums = { table: 'museums', columns: ['name'], key: 'id', joins: [] }
const rooms = { table: 'rooms', columns: ['name'], key: 'museum_id', joins: ['museums', 'floors'] }

/** A store whose records count their loads. */
function counting(options?: StoreOptions) {
  const store = new Store(options)
  const counter = () => {
    const loads = new Map<string, number>()
    return async (key: string) => {
      const count = (loads.get(key) ?? 0) + 1
      loads.set(key, count)
      return `${key}: ${count}`
    }
  }
  return { store, museums: store.segment(museums, counter()), rooms: store.segment(rooms, counter()) }
}

/** A store with one cached record and a database that can go down. */
async function failing(options: StoreOptions) {
  const store = new Store(options)
  let loads = 0
  const database = { down: false, error: new Error('down') }
  const segment = store.segment(museums, async () => {
    loads++
    if (database.down) throw database.error
    return `Louvre ${loads}`
  })
  await segment.read('1')
  return { store, segment, database, loads: () => loads }
}

t.test('A change to a row drops the record cached under its key', async t => {
  const { store, museums } = counting()
  await museums.read('1')
  await museums.read('2')
  store.change('museums', '1')
  t.equal(await museums.read('1'), '1: 2')
  t.equal(museums.read('2'), '2: 1')
})

t.test('A change to a whole table drops all of its records', async t => {
  const { store, museums } = counting()
  await museums.read('1')
  await museums.read('2')
  store.change('museums', null)
  t.equal(await museums.read('1'), '1: 2')
  t.equal(await museums.read('2'), '2: 2')
})

t.test('A change to a joined table drops every record, whatever its key', async t => {
  const { store, rooms } = counting()
  await rooms.read('1')
  await rooms.read('2')
  store.change('floors', '7')
  t.equal(await rooms.read('1'), '1: 2')
  t.equal(await rooms.read('2'), '2: 2')
})

t.test('A change to a table reaches the segment that caches it and the one that joins it', async t => {
  const { store, museums, rooms } = counting()
  await museums.read('1')
  await rooms.read('2')
  store.change('museums', '1')
  t.equal(await museums.read('1'), '1: 2')
  t.equal(await rooms.read('2'), '2: 2')
})

t.test('A change to a row that is not cached drops nothing', async t => {
  const { store, museums, rooms } = counting()
  await museums.read('1')
  await rooms.read('1')
  store.change('constructor', '1')
  store.change('rooms', '2')
  t.equal(museums.read('1'), '1: 1')
  t.equal(rooms.read('1'), '1: 1')
})

t.test('Segments with different columns have separate records', async t => {
  const store = new Store()
  const names = store.segment({ ...museums, columns: ['name'] }, async () => 'Louvre')
  const streets = store.segment({ ...museums, columns: ['street'] }, async () => 'Rue de Rivoli')
  t.equal(await names.read('1'), 'Louvre')
  t.equal(await streets.read('1'), 'Rue de Rivoli')
  t.equal(names.read('1'), 'Louvre')
})

t.test('A segment has the metadata that it was made with', async t => {
  t.equal(new Store().segment(rooms, async () => null).metadata, rooms)
})

t.test('While changes may be missed, a record older than the short lifetime is read again', async t => {
  const { store, museums } = counting({ deafLifetime: 0 })
  await museums.read('1')
  store.deafen()
  t.equal(await museums.read('1'), '1: 2')
  t.equal(await museums.read('1'), '1: 3')
})

t.test('While changes may be missed, a record within the short lifetime is trusted', async t => {
  const { store, museums } = counting({ deafLifetime: 3_600_000 })
  store.deafen()
  await museums.read('1')
  t.equal(museums.read('1'), '1: 1')
})

t.test('While changes may be missed, concurrent reads share one load', async t => {
  const { store, museums } = counting({ deafLifetime: 0 })
  store.deafen()
  t.strictSame(await Promise.all([museums.read('1'), museums.read('1')]), ['1: 1', '1: 1'])
})

t.test('While changes may be missed and the database is down, cached records are served', async t => {
  const { store, segment, database } = await failing({ deafLifetime: 0 })
  store.deafen()
  database.down = true
  t.equal(await segment.read('1'), 'Louvre 1')
  t.equal(await segment.read('1'), 'Louvre 1')
})

t.test('While the database is down, each record is retried once per lifetime', async t => {
  const { store, segment, database, loads } = await failing({ deafLifetime: 200 })
  store.deafen()
  database.down = true
  while (!(segment.read('1') instanceof Promise)) await new Promise(resolve => setImmediate(resolve))
  await segment.read('1')
  t.equal(segment.read('1'), 'Louvre 1')
  t.equal(loads(), 2)
})

t.test('A record that is known to have changed is not served, even if the database is down', async t => {
  const { store, segment, database } = await failing({ deafLifetime: 0 })
  store.deafen()
  database.down = true
  store.change('museums', '1')
  await t.rejects(Promise.resolve(segment.read('1')), { message: 'down' })
})

t.test('A record that changes during a failing load is not served', async t => {
  const { store, segment, database } = await failing({ deafLifetime: 0 })
  store.deafen()
  database.down = true
  const reading = segment.read('1')
  store.change('museums', '1')
  await t.rejects(Promise.resolve(reading), { message: 'down' })
})

t.test('Once the database is back, stale records are read again', async t => {
  const { store, segment, database } = await failing({ deafLifetime: 0 })
  store.deafen()
  database.down = true
  await segment.read('1')
  database.down = false
  t.equal(await segment.read('1'), 'Louvre 3')
})

t.test('Once changes arrive again, records from before are read again', async t => {
  const { store, museums } = counting({ deafLifetime: 3_600_000 })
  await museums.read('1')
  store.deafen()
  store.listen()
  t.equal(await museums.read('1'), '1: 2')
})

t.test('Once changes arrive again, new records are trusted', async t => {
  const { store, museums } = counting({ deafLifetime: 0 })
  store.deafen()
  store.listen()
  await museums.read('1')
  t.equal(museums.read('1'), '1: 1')
})

t.test('A load that began before changes arrived again is not cached', async t => {
  const { store, museums } = counting({ deafLifetime: 0 })
  store.deafen()
  const reading = museums.read('1')
  store.listen()
  t.equal(await reading, '1: 1')
  t.equal(await museums.read('1'), '1: 2')
})

t.test(
  'Records from before changes arrived again are served if changes may be missed and the database is down',
  async t => {
    const { store, segment, database } = await failing({ deafLifetime: 0 })
    database.down = true
    store.deafen()
    store.listen()
    await t.rejects(Promise.resolve(segment.read('1')), { message: 'down' })
    store.deafen()
    t.equal(await segment.read('1'), 'Louvre 1')
  },
)

t.test('Records from before changes arrived again are served while queries are refused, and no longer', async t => {
  const { store, segment, database } = await failing({ deafLifetime: 0 })
  database.down = true
  database.error = new ServiceUnavailableHttpError('busy', 1)
  store.listen()
  t.equal(await segment.read('1'), 'Louvre 1')
  t.equal(await segment.read('1'), 'Louvre 1')
  database.down = false
  t.equal(await segment.read('1'), 'Louvre 4')
})

t.test('A load that fails just as changes arrive again falls back to the earlier record', async t => {
  const { store, segment, database } = await failing({ deafLifetime: 3_600_000 })
  database.down = true
  database.error = new ServiceUnavailableHttpError('busy', 1)
  store.listen()
  const readings = [segment.read('1')]
  store.listen()
  readings.push(segment.read('1'))
  t.strictSame(await Promise.all(readings), ['Louvre 1', 'Louvre 1'])
})

t.test('Each read of a possibly stale record emits an event', async t => {
  const { store, segment, database } = await failing({ deafLifetime: 3_600_000 })
  const told: string[] = []
  store.events.on('stale', ({ table }, key) => told.push(`${table} ${key}`))
  void segment.read('1')
  database.down = true
  store.listen()
  store.deafen()
  await segment.read('1')
  t.strictSame(told, ['museums 1'])
  void segment.read('1')
  t.strictSame(told, ['museums 1', 'museums 1'])
})
