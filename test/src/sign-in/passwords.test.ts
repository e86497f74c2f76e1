import t from 'tap'
import { hashPassword, PasswordVerifier } from '../../../src/sign-in/passwords.ts'

const verifier = new PasswordVerifier()
const passwordHash = await hashPassword('right')

/** The CPU time of an attempt, which other processes do not change. Some systems count it in ticks of 10 ms. */
async function costOf(hash: string | undefined): Promise<number> {
  const before = process.cpuUsage()
  t.equal(await verifier.verify('wrong', hash), false)
  const { system, user } = process.cpuUsage(before)
  return system + user
}

t.test('an unknown user and a malformed hash cost as much work as a known user', async t => {
  const costs = { known: 0, unknown: 0, malformed: 0 }
  for (let round = 0; round < 10; round++) {
    costs.known += await costOf(passwordHash)
    costs.unknown += await costOf(undefined)
    costs.malformed += await costOf('malformed')
  }
  t.ok(costs.unknown > costs.known / 3, JSON.stringify(costs))
  t.ok(costs.malformed > costs.known / 3, JSON.stringify(costs))
})
