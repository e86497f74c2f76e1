import t from 'tap'
import { EntityCache, type EntityCacheOptions } from '../../../src/cache/entity-cache.ts'

const metadata = { table: 'museums', columns: ['name'], key: 'id', joins: ['licenses', 'languages'] }

/** A segment whose loads the test settles itself, in any order. */
function controlled(options?: EntityCacheOptions) {
  const cache = new EntityCache(options)
  const loads: { key: string; resolve: (value: string | null) => void; reject: (error: Error) => void }[] = []
  const segment = cache.segment<string | null>(
    metadata,
    key =>
      new Promise((resolve, reject) => {
        loads.push({ key, resolve, reject })
      }),
  )
  return {
    cache,
    segment,
    loads,
    /** Reads a record that is not cached. */
    async load(key: string, value: string | null) {
      const reading = segment.read(key)
      loads.at(-1)?.resolve(value)
      return await reading
    },
  }
}

t.test('A failed load rejects every waiting read, and is not cached', async t => {
  const { segment, load, loads } = controlled()
  const readings = [segment.read('1'), segment.read('1')]
  loads[0]?.reject(new Error('down'))
  t.match(await Promise.allSettled(readings), [{ reason: { message: 'down' } }, { reason: { message: 'down' } }])
  t.equal(await load('1', 'Louvre'), 'Louvre')
  t.equal(segment.read('1'), 'Louvre')
})

for (const key of ['1', null]) {
  const forgotten = key === null ? 'all records' : 'a record'

  t.test(`Forgetting ${forgotten} during a load answers the reads before it, but caches only a later load`, async t => {
    for (const isLaterFirst of [true, false]) {
      const { segment, loads } = controlled()
      const before = segment.read('1')
      segment.forget(key)
      const after = segment.read('1')
      t.equal(loads.length, 2)
      const ends = [() => loads[0]?.resolve('Louvre'), () => loads[1]?.resolve('Prado')]
      for (const end of isLaterFirst ? ends.reverse() : ends) end()
      t.strictSame(await Promise.all([before, after]), ['Louvre', 'Prado'])
      t.equal(segment.read('1'), 'Prado')
    }
  })

  t.test(`Forgetting ${forgotten} during a load without a later one caches nothing`, async t => {
    const { segment, loads } = controlled()
    const reading = segment.read('1')
    segment.forget(key)
    loads[0]?.resolve('Louvre')
    await reading
    t.type(segment.read('1'), Promise)
  })

  t.test(`Forgetting ${forgotten} during a load that fails does not affect the next load`, async t => {
    const { segment, loads } = controlled()
    const before = segment.read('1')
    segment.forget(key)
    const after = segment.read('1')
    loads[0]?.reject(new Error('down'))
    await t.rejects(Promise.resolve(before), { message: 'down' })
    t.equal(segment.read('1'), after)
    loads[1]?.resolve('Prado')
    t.equal(await after, 'Prado')
  })
}

t.test('The least recently read record is evicted first', async t => {
  const { segment, load } = controlled({ maxEntries: 2 })
  await load('1', 'Louvre')
  await load('2', 'Prado')
  void segment.read('1')
  await load('3', 'Uffizi')
  t.equal(segment.read('1'), 'Louvre')
  t.equal(segment.read('3'), 'Uffizi')
  t.type(segment.read('2'), Promise)
})

for (const [what, key, value] of [
  ['long record', '2', 'b'.repeat(1300)],
  ['long key', 'k'.repeat(1300), ''],
] as const) {
  t.test(`A ${what} evicts others beyond the byte limit`, async t => {
    const { segment, load } = controlled({ maxBytes: 3000 })
    await load('1', 'Louvre')
    await load(key, value)
    t.equal(segment.read(key), value)
    t.type(segment.read('1'), Promise)
  })
}

t.test('A record larger than the byte limit is returned, but not cached', async t => {
  const { segment, load } = controlled({ maxBytes: 1000 })
  await load('1', null)
  t.equal(await load('2', 'b'.repeat(1000)), 'b'.repeat(1000))
  t.type(segment.read('2'), Promise)
  t.equal(segment.read('1'), null)
})

t.test('Misses fill at most a tenth of the cache and evict no record', async t => {
  const { segment, load } = controlled({ maxEntries: 100 })
  await load('1', 'Louvre')
  for (let key = 2; key < 10_000; key++) await load(String(key), null)
  t.type(segment.read('9989'), Promise)
  t.equal(segment.read('9990'), null)
  t.equal(segment.read('1'), 'Louvre')
})

for (const [before, after] of [
  ['Louvre', null],
  [null, 'Louvre'],
]) {
  t.test(`An unannounced change from ${before} to ${after} leaves no stale record`, async t => {
    const { segment, load } = controlled({ maxEntries: 1 })
    await load('1', before ?? null)
    segment.expect()('1', after ?? null)
    await load('2', after ?? null)
    t.type(segment.read('1'), Promise)
  })
}

t.test('A record that another load brings along is cached, unless it or all were forgotten meanwhile', async t => {
  for (const forgotten of [undefined, '1', null]) {
    const { segment } = controlled()
    const keep = segment.expect()
    if (forgotten !== undefined) segment.forget(forgotten)
    keep('1', 'Louvre')
    if (forgotten === undefined) t.equal(segment.read('1'), 'Louvre')
    else t.type(segment.read('1'), Promise)
  }
})
