import t from 'tap'
import { inBatches } from '../../../src/store/batch.ts'

/** Loads that note what they are asked for; each key's value is itself in capitals, and "nobody" has none. */
function noted (most = 10) {
  const loads: string[][] = []
  const load = inBatches(async keys => {
    loads.push([...keys])
    if (keys.includes('broken')) throw new Error('Broken.')
    return new Map(keys.filter(key => key !== 'nobody').map(key => [key, key.toUpperCase()]))
  }, () => most)
  return { loads, load }
}

t.test('What is asked for in one turn of the event loop is loaded at once', async t => {
  const { loads, load } = noted()
  t.strictSame(await Promise.all([load('a'), load('b'), load('c')]), ['A', 'B', 'C'])
  t.strictSame(loads, [['a', 'b', 'c']])
})

t.test('What is asked for in another turn is loaded by itself', async t => {
  const { loads, load } = noted()
  await load('a')
  await load('b')
  t.strictSame(loads, [['a'], ['b']])
})

t.test('More than so many are loaded in several parts', async t => {
  const { loads, load } = noted(2)
  t.strictSame(await Promise.all(['a', 'b', 'c', 'd', 'e'].map(load)), ['A', 'B', 'C', 'D', 'E'])
  t.strictSame(loads, [['a', 'b'], ['c', 'd'], ['e']])
})

t.test('Of what there is nothing there is nothing, for whoever else asks', async t => {
  const { load } = noted()
  t.strictSame(await Promise.all([load('nobody'), load('a')]), [undefined, 'A'])
})

t.test('A load that fails does so for all who wait for it, and for nobody after them', async t => {
  const { load } = noted()
  const waiting = [load('a'), load('broken')]
  for (const one of waiting) await t.rejects(one, { message: 'Broken.' })
  t.equal(await load('a'), 'A')
})
