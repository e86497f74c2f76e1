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
