import t, { type Test } from 'tap'
import { ResponseCache } from '../../../src/cache/response-cache.ts'
import { stopClock } from '../../support/clock.ts'

const minute = 60_000

/** A cache as @fastify/caching calls it. Its callbacks must be called synchronously, and once. */
function cache(t: Test) {
  const responses = new ResponseCache()
  type Key = Parameters<typeof responses.set>[0]
  function called<Result>(call: (callback: (error: unknown, result: Result) => void) => void): Result | undefined {
    const results: Result[] = []
    call((error, result) => {
      t.equal(error, null)
      results.push(result)
    })
    t.equal(results.length, 1, 'the callback is called once, synchronously')
    return results[0]
  }
  return {
    responses,
    get: (key: Key) => called<{ item: unknown } | null>(callback => responses.get(key, callback)),
    set: (key: Key, item: unknown, ttl = minute) => called(callback => responses.set(key, item, ttl, callback)),
  }
}

t.test('an item is stored with its time and TTL, and read, with callbacks', async t => {
  stopClock(t)
  const { get, set } = cache(t)
  t.equal(get('page'), null)
  t.equal(set('page', 'Louvre'), 'Louvre')
  t.strictSame(get('page'), { item: 'Louvre', stored: Date.now(), ttl: minute })
  t.equal(get('other'), null)
})

t.test('the same id in two segments is two keys, never mistaken for another pair', async t => {
  const { get, set } = cache(t)
  set({ id: 'page', segment: 'a' }, 'Louvre')
  set({ id: 'page', segment: 'b' }, 'Prado')
  set({ id: 'b:c', segment: 'a' }, 'Uffizi')
  t.match(get({ id: 'page', segment: 'a' }), { item: 'Louvre' })
  t.match(get({ id: 'page', segment: 'b' }), { item: 'Prado' })
  for (const key of ['page', 'a:b:c', { id: 'c', segment: 'a:b' }]) t.equal(get(key), null)
})

t.test('an item without a lifetime is not stored, and removes the one before', async t => {
  const { get, set } = cache(t)
  for (const ttl of [0, -1, NaN]) {
    set('page', 'Louvre')
    t.equal(set('page', 'Prado', ttl), 'Prado')
    t.equal(get('page'), null, String(ttl))
  }
})

t.test('an item expires after its TTL, which may be fractional or infinite', async t => {
  const letPass = stopClock(t)
  const { get, set } = cache(t)
  set('page', 'Louvre', minute + 0.5)
  set('for ever', 'Prado', Infinity)
  letPass(minute + 1)
  t.equal(get('page'), null)
  t.match(get('for ever'), { item: 'Prado', ttl: Infinity })
})
