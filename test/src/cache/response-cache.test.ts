import t, { type Test } from 'tap'
import { etagSegment, ResponseCache, type ResponseCacheOptions } from '../../../src/cache/response-cache.ts'
import { Store } from '../../../src/cache/store.ts'

const minute = 60_000

function cache(options: Partial<ResponseCacheOptions> = {}): ResponseCache {
  return new ResponseCache({ maxEntries: 100, maxBytes: 100_000, ...options })
}

/** Calls with a callback, and gives what it was called with: at once, or not at all. */
function called<Result>(
  t: Test,
  call: (callback: (error: unknown, result: Result) => void) => void,
): Result | undefined {
  const results: Result[] = []
  call((error, result) => {
    t.equal(error, null)
    results.push(result)
  })
  t.equal(results.length, 1, 'is called back once, at once')
  return results[0]
}

t.test('What is set is got, with the time and the lifetime that it was set with', async t => {
  const responses = cache()
  const before = Date.now()
  responses.set('page', 'Louvre', minute)
  const cached = await responses.get('page')
  t.match(cached, { item: 'Louvre', ttl: minute })
  t.ok(cached !== null && cached.stored >= before && cached.stored <= Date.now())
})

t.test('What is set is got by a callback', async t => {
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

t.test('What was not set is null', async t => {
  const responses = cache()
  t.equal(await responses.get('page'), null)
  t.equal(
    called(t, callback => responses.get('page', callback)),
    null,
  )
})

t.test('Whether something is there is told', async t => {
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

t.test('What is deleted is gone', async t => {
  const responses = cache()
  responses.set('page', 'Louvre', minute)
  t.equal(
    called(t, callback => responses.delete('page', callback)),
    null,
  )
  t.equal(await responses.get('page'), null)
})

t.test('It is deleted without a callback, too', async t => {
  const responses = cache()
  responses.set('page', 'Louvre', minute)
  responses.delete('page')
  t.equal(await responses.get('page'), null)
})

t.test('One id is two keys in two segments', async t => {
  const responses = cache()
  responses.set({ id: 'page', segment: 'a' }, 'Louvre', minute)
  responses.set({ id: 'page', segment: 'b' }, 'Prado', minute)
  t.match(await responses.get({ id: 'page', segment: 'a' }), { item: 'Louvre' })
  t.match(await responses.get({ id: 'page', segment: 'b' }), { item: 'Prado' })
  t.equal(await responses.get('page'), null)
})

t.test('A segment and an id are never taken for another pair', async t => {
  const responses = cache()
  responses.set({ id: 'b:c', segment: 'a' }, 'Louvre', minute)
  t.equal(await responses.get({ id: 'c', segment: 'a:b' }), null)
  t.equal(await responses.get('a:b:c'), null)
})

t.test('ETags are not remembered, and their setter is answered all the same', async t => {
  const responses = cache()
  t.equal(
    called(t, callback => responses.set({ id: '"1"', segment: etagSegment }, true, minute, callback)),
    true,
  )
  t.equal(await responses.get({ id: '"1"', segment: etagSegment }), null)
})

t.test('A key that is called like the segment of the ETags is held', async t => {
  const responses = cache()
  responses.set(etagSegment, 'Louvre', minute)
  t.match(await responses.get(etagSegment), { item: 'Louvre' })
})

for (const ttl of [0, -1, NaN]) {
  t.test(`What has a lifetime of ${ttl} is not held`, async t => {
    const responses = cache()
    responses.set('page', 'Louvre', minute)
    t.equal(
      called(t, callback => responses.set('page', 'Prado', ttl, callback)),
      'Prado',
    )
    t.equal(await responses.get('page'), null)
  })
}

t.test('A lifetime may be a fraction of milliseconds', async t => {
  const responses = cache()
  responses.set('page', 'Louvre', minute + 0.5)
  t.match(await responses.get('page'), { item: 'Louvre' })
})

t.test('A lifetime may be without end', async t => {
  const responses = cache()
  responses.set('page', 'Louvre', Infinity)
  t.match(await responses.get('page'), { item: 'Louvre', ttl: Infinity })
})

t.test('What has lived its lifetime is gone', async t => {
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

t.test('Of more entries than fit, the least recently read goes', async t => {
  const responses = cache({ maxEntries: 2 })
  responses.set('1', 'Louvre', minute)
  responses.set('2', 'Prado', minute)
  await responses.get('1')
  responses.set('3', 'Uffizi', minute)
  t.equal(await responses.get('2'), null)
  t.match(await responses.get('1'), { item: 'Louvre' })
})

t.test('Items are held for as many bytes as they may take', async t => {
  const responses = cache({ maxBytes: 3000 })
  responses.set('1', 'a'.repeat(1000), minute)
  responses.set('2', 'b'.repeat(1000), minute)
  t.equal(await responses.get('1'), null)
  t.match(await responses.get('2'), { item: 'b'.repeat(1000) })
})

t.test('A large buffer takes its room, and not more', async t => {
  const responses = cache({ maxBytes: 10_000 })
  responses.set('1', Buffer.alloc(9000), minute)
  t.not(await responses.get('1'), null)
})

t.test('Nothing is held as anything else is', async t => {
  const responses = cache()
  responses.set('undefined', undefined, minute)
  t.match(await responses.get('undefined'), { item: undefined })
})

t.test("A store's responses are bounded as its records are", async t => {
  const { responses } = new Store({ maxEntries: 1 })
  responses.set('1', 'Louvre', minute)
  responses.set('2', 'Prado', minute)
  t.equal(await responses.get('1'), null)
})

t.test('A change of the database leaves the responses: who sets them sees to them', async t => {
  const store = new Store()
  store.responses.set('page', 'Louvre', minute)
  store.change('museums', null)
  t.match(await store.responses.get('page'), { item: 'Louvre' })
})
