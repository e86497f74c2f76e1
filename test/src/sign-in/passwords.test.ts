import t from 'tap'
import { hashPassword, PasswordVerifier } from '../../../src/sign-in/passwords.ts'

const verifier = new PasswordVerifier()
const passwordHash = await hashPassword('right')

/** The CPU time of an attempt, which other processes do not change. */
async function costOf(hash: string | undefined): Promise<number> {
  const before = process.cpuUsage()
  t.equal(await verifier.verify('wrong', hash), false)
  const { system, user } = process.cpuUsage(before)
  return system + user
}

t.test('an unknown user and a malformed hash cost as much work as a known user', async t => {
  await costOf(passwordHash)
  const known = await costOf(passwordHash)
  for (const hash of [undefined, 'malformed']) t.ok((await costOf(hash)) > known / 3, String(hash))
})
