import t from 'tap'
import { inSerialBatches } from '../../../src/database/serial-batches.ts'

/** Loads that record their keys and end when told to. A key's value is its upper case; "nobody" has none. */
function controlled() {
  const loads: string[][] = []
  const ends: Array<(error?: Error) => void> = []
  const load = inSerialBatches(async keys => {
    loads.push([...keys])
    await new Promise<void>((resolve, reject) => {
      ends.push(error => {
        error === undefined ? resolve() : reject(error)
      })
    })
    return new Map(keys.filter(key => key !== 'nobody').map(key => [key, key.toUpperCase()]))
  })
  return { loads, ends, load }
}

/** Lets everything that can proceed do so. */
async function settled() {
  await new Promise(resolve => {
    setImmediate(resolve)
  })
}

t.test('A key requested while nothing is loading is loaded alone', async t => {
  const { loads, ends, load } = controlled()
  const value = load('a')
  await settled()
  t.strictSame(loads, [['a']])
  ends[0]?.()
  t.equal(await value, 'A')
})

t.test('Keys requested during a load are loaded together by the next one', async t => {
  const { loads, ends, load } = controlled()
  const values = [load('a')]
  await settled()
  values.push(load('b'), load('c'))
  await settled()
  t.strictSame(loads, [['a']])
  ends[0]?.()
  await settled()
  t.strictSame(loads, [['a'], ['b', 'c']])
  ends[1]?.()
  t.strictSame(await Promise.all(values), ['A', 'B', 'C'])
})

t.test('A key without a value does not affect the others', async t => {
  const { ends, load } = controlled()
  const values = [load('nobody'), load('a')]
  await settled()
  ends[0]?.()
  t.strictSame(await Promise.all(values), [undefined, 'A'])
})

t.test('A failed load does not affect later requests', async t => {
  const { ends, load } = controlled()
  const first = t.rejects(load('a'), { message: 'Broken.' })
  await settled()
  ends[0]?.(new Error('Broken.'))
  await first
  const later = load('a')
  await settled()
  ends[1]?.()
  t.equal(await later, 'A')
})

t.test('A failed load also rejects the requests that waited for its end', async t => {
  const { loads, ends, load } = controlled()
  const first = t.rejects(load('a'), { message: 'Broken.' })
  await settled()
  const second = t.rejects(load('b'), { message: 'Broken.' })
  ends[0]?.(new Error('Broken.'))
  await Promise.all([first, second])
  t.strictSame(loads, [['a']])
})

t.test('At most 10,000 keys wait', async t => {
  const { loads, ends, load } = controlled()
  const values = [load('first')]
  await settled()
  values.push(...Array.from({ length: 10_000 }, (_, n) => load(String(n))))
  await t.rejects(load('one too many'), {
    name: 'ServiceUnavailableHttpError',
    cause: { message: '10000 keys are already waiting for a query.' },
  })
  ends[0]?.()
  await settled()
  t.equal(loads[1]?.length, 10_000)
  ends[1]?.()
  await Promise.all(values)
})
