import t from 'tap'
import { ServiceUnavailableHttpError } from '../../../src/errors/http-errors.ts'
import { Attempts, networkOf } from '../../../src/sign-in/attempts.ts'
import { openTestDatabase } from '../../support/site.ts'

const { db } = await openTestDatabase(t)
const secret = 'of a server'

/** The counters of one server, and its clock. */
function begin(by = secret) {
  const clock = { now: 0 }
  return { clock, attempts: new Attempts({ database: { db, isShared: false }, secret: by, now: () => clock.now }) }
}

t.test("100,000 keys in a minute use up nobody's attempts and evict no counter", async t => {
  const { attempts } = begin()
  for (let n = 0; n < 20; n++) await attempts.add('held', 20)
  let refused = 0
  for (let n = 0; n < 100_000; n++) if ((await attempts.add(`key ${n}`, 20)) > 0) refused++
  t.ok(refused < 5, `the keys that share the counter were refused: ${refused}`)
  t.equal(await attempts.add('held', 20), 60)
})

t.test('Attempts counted while the table is read-only still count once it is writable', async t => {
  let isWritable = false
  const guarded = db.withPlugin({
    transformQuery: ({ node }) => {
      if (!isWritable) throw new ServiceUnavailableHttpError('The database is read-only.', 1)
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const clock = { now: 0 }
  const attempts = new Attempts({ database: { db: guarded, isShared: true }, secret, now: () => clock.now })
  for (let n = 0; n < 4; n++) t.equal(await attempts.add('outage', 5), 0)
  isWritable = true
  clock.now = 30_000
  t.equal(await attempts.add('outage', 5), 0)
  t.equal(await attempts.add('outage', 5), 30, 'the table has counted one attempt')
  clock.now = 60_000
  for (let n = 0; n < 4; n++) t.equal(await attempts.add('outage', 5), 0)
  t.ok((await attempts.add('outage', 5)) > 0, 'the table counts from the next minute on')
})

t.test('The secret decides which keys share a counter', async t => {
  const { attempts } = begin('one')
  const { attempts: others } = begin('another')
  let n = 0
  while ((await attempts.add(`key ${n}`, 1)) === 0) await others.add(`key ${n++}`, 1)
  t.equal(await others.add(`key ${n}`, 1), 0)
})

t.test('A network is an IPv4 address, or the first 64 bits of an IPv6 address in any notation', async t => {
  for (const [address, same] of [
    ['192.0.2.1', '::ffff:192.0.2.1'],
    ['192.0.2.1', '::ffff:c000:201'],
    ['2001:db8::1', '2001:DB8:0:0:ffff:ffff:ffff:ffff'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::192.0.2.1'],
    ['fe80::1%eth0', 'fe80::2%eth1'],
    ['unknown', '_hidden'],
  ] as const) {
    t.equal(networkOf(address), networkOf(same), `${address} and ${same}`)
  }
  for (const [address, other] of [
    ['192.0.2.1', '192.0.2.2'],
    ['2001:db8:0:1::1', '2001:db8:0:2::1'],
    ['192.0.2.1', 'unknown'],
    ['::', 'unknown'],
    ['192.0.2.1', '192.0.2.1:80'],
  ] as const) {
    t.not(networkOf(address), networkOf(other), `${address} and ${other}`)
  }
})
