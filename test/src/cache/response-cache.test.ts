import t, { type Test } from 'tap'
import { etagSegment, ResponseCache, type ResponseCacheOptions } from '../../../src/cache/response-cache.ts'

const minute = 60_000

function cache(options: Partial<ResponseCacheOptions> = {}): ResponseCache {
  return new ResponseCache({ maxEntries: 100, maxBytes: 100_000, ...options })
}

/** Passes a callback, which must be called synchronously, and returns its result. */
function called<Result>(
  t: Test,
  call: (callback: (error: unknown, result: Result) => void) => void,
): Result | undefined {
  const results: Result[] = []
  call((error, result) => {
    t.equal(error, null)
    results.push(result)
  })
  t.equal(results.length, 1, 'the callback is called once, synchronously')
  return results[0]
}

t.test('An item is returned with its time of storage and its TTL', async t => {
  const responses = cache()
  const before = Date.now()
  responses.set('page', 'Louvre', minute)
  const cached = await responses.get('page')
  t.match(cached, { item: 'Louvre', ttl: minute })
  t.ok(cached !== null && cached.stored >= before && cached.stored <= Date.now())
})

t.test('Items can be set and read with callbacks', async t => {
  const responses = cache()
  t.equal(
    called(t, callback => responses.set('page', 'Louvre', minute, callback)),
    'Louvre',
  )
  t.match(
    called(t, callback => responses.get('page', callback)),
    { item: 'Louvre' },
  )
})

t.test('An unknown key is null', async t => {
  const responses = cache()
  t.equal(await responses.get('page'), null)
  t.equal(
    called(t, callback => responses.get('page', callback)),
    null,
  )
})

t.test('A cache says whether it has a key', async t => {
  const responses = cache()
  responses.set('page', 'Louvre', minute)
  t.equal(
    called(t, callback => responses.has('page', callback)),
    true,
  )
  t.equal(
    called(t, callback => responses.has('other', callback)),
    false,
  )
})

t.test('A deleted item is gone', async t => {
  const responses = cache()
  responses.set('page', 'Louvre', minute)
  t.equal(
    called(t, callback => responses.delete('page', callback)),
    null,
  )
  t.equal(await responses.get('page'), null)
})

t.test('An item can be deleted without a callback', async t => {
  const responses = cache()
  responses.set('page', 'Louvre', minute)
  responses.delete('page')
  t.equal(await responses.get('page'), null)
})

t.test('The same id in two segments is two keys', async t => {
  const responses = cache()
  responses.set({ id: 'page', segment: 'a' }, 'Louvre', minute)
  responses.set({ id: 'page', segment: 'b' }, 'Prado', minute)
  t.match(await responses.get({ id: 'page', segment: 'a' }), { item: 'Louvre' })
  t.match(await responses.get({ id: 'page', segment: 'b' }), { item: 'Prado' })
  t.equal(await responses.get('page'), null)
})

t.test('A segment and an id are never mistaken for another pair', async t => {
  const responses = cache()
  responses.set({ id: 'b:c', segment: 'a' }, 'Louvre', minute)
  t.equal(await responses.get({ id: 'c', segment: 'a:b' }), null)
  t.equal(await responses.get('a:b:c'), null)
})

t.test('ETags are not stored, though setting one succeeds', async t => {
  const responses = cache()
  t.equal(
    called(t, callback => responses.set({ id: '"1"', segment: etagSegment }, true, minute, callback)),
    true,
  )
  t.equal(await responses.get({ id: '"1"', segment: etagSegment }), null)
})

t.test('A key named like the ETag segment is stored', async t => {
  const responses = cache()
  responses.set(etagSegment, 'Louvre', minute)
  t.match(await responses.get(etagSegment), { item: 'Louvre' })
})

for (const ttl of [0, -1, NaN]) {
  t.test(`An item with a TTL of ${ttl} is not stored`, async t => {
    const responses = cache()
    responses.set('page', 'Louvre', minute)
    t.equal(
      called(t, callback => responses.set('page', 'Prado', ttl, callback)),
      'Prado',
    )
    t.equal(await responses.get('page'), null)
  })
}

t.test('A TTL may be fractional', async t => {
  const responses = cache()
  responses.set('page', 'Louvre', minute + 0.5)
  t.match(await responses.get('page'), { item: 'Louvre' })
})

t.test('A TTL may be infinite', async t => {
  const responses = cache()
  responses.set('page', 'Louvre', Infinity)
  t.match(await responses.get('page'), { item: 'Louvre', ttl: Infinity })
})

t.test('An item expires after its TTL', async t => {
  const responses = cache()
  responses.set('page', 'Louvre', 1)
  const set = performance.now()
  while (performance.now() - set < 5) await new Promise(resolve => setImmediate(resolve))
  t.equal(await responses.get('page'), null)
  t.equal(
    called(t, callback => responses.has('page', callback)),
    false,
  )
})

t.test('The least recently read item is evicted first', async t => {
  const responses = cache({ maxEntries: 2 })
  responses.set('1', 'Louvre', minute)
  responses.set('2', 'Prado', minute)
  await responses.get('1')
  responses.set('3', 'Uffizi', minute)
  t.equal(await responses.get('2'), null)
  t.match(await responses.get('1'), { item: 'Louvre' })
})

t.test('Items are evicted beyond the byte limit', async t => {
  const responses = cache({ maxBytes: 3000 })
  responses.set('1', 'a'.repeat(1000), minute)
  responses.set('2', 'b'.repeat(1000), minute)
  t.equal(await responses.get('1'), null)
  t.match(await responses.get('2'), { item: 'b'.repeat(1000) })
})

t.test('A large buffer counts as its own size and no more', async t => {
  const responses = cache({ maxBytes: 10_000 })
  responses.set('1', Buffer.alloc(9000), minute)
  t.not(await responses.get('1'), null)
})

t.test('Undefined is stored like any other value', async t => {
  const responses = cache()
  responses.set('undefined', undefined, minute)
  t.match(await responses.get('undefined'), { item: undefined })
})
