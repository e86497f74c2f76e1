import t from 'tap'
import { addLicense, addUser } from '../support/records.ts'
import { keptOpen, runCommand } from '../support/run-command.ts'
import { openTestDatabase } from '../support/test-database.ts'

const database = await openTestDatabase(t)
await addUser(database, { email: 'me@museum.test' })
await addLicense(database, { domain: 'localhost' })

async function askForLink(...words: string[]) {
  const openDatabase = keptOpen(database)
  return await runCommand(['user', 'password', 'me@museum.test', '--link', ...words], { openDatabase })
}

for (const host of ['localhost:1', 'localhost:65535', 'http://localhost:80']) {
  t.test(`"user password --link --host ${host}" prints a link`, async t => {
    t.match(await askForLink('--host', host), { code: 0, output: /^http:\/\/localhost:\d+\/password\/reset\?token=/ })
  })
}

for (const host of [
  'localhost:0',
  'localhost:65536',
  'localhost:99999',
  'http://localhost:99999',
  ' localhost:99999 ',
]) {
  t.test(`"user password --link --host ${host}" names the port that is impossible`, async t => {
    t.strictSame(await askForLink('--host', host), {
      code: 1,
      output: '',
      errors: `portico: The port of "${host}" must be from 1 to 65535.\n`,
    })
  })
}
