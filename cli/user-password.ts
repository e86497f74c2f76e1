import { users } from '../src/records/kinds.ts'
import { makeReset, resetLifetime } from '../src/records/passwords.ts'
import { changeRecord } from '../src/records/repository.ts'
import { shortestPassword } from '../src/sign-in/passwords.ts'
import { type Command, readWords, type Terminal, UsageError } from './command.ts'
import { commandAuthor } from './command-author.ts'
import { allOrNothing } from './database-failure.ts'
import { readPassword } from './password-input.ts'
import { findRecord } from './record-fields.ts'
import { writeOutcome } from './record-output.ts'
import { findSite } from './site-address.ts'
import { withDatabase } from './with-database.ts'

export const userPassword: Command = {
  usage: 'user password <email|id> [--link [--host <host>]] [--json]',
  summary: 'Changes a password, which ends all sessions.',
  details: `--link         print a link by which the user chooses a password; it works once, for an hour
--host <host>  the site of the link, such as museum.example, localhost:3000 or http://museum.test;
               default: the first site of the user's groups, or else the first of all
--json         print the user, or the link, as a line of JSON

The command asks for the password, or reads it from a pipe: user password a@b.example < file
A password has at least ${shortestPassword} characters. A new link ends the user's last one.`,
  async run(words, terminal) {
    const {
      values: { link: isLink, host, json },
      operands: [word = ''],
    } = readWords(words, ['email|id'], {
      link: { type: 'boolean', default: false },
      host: { type: 'string' },
      json: { type: 'boolean', default: false },
    })
    if (isLink) return await printLink(word, host, json, terminal)
    if (host !== undefined) throw new UsageError('--host needs --link.')
    const { after } = await withDatabase(terminal, async ({ db }) => {
      const { id } = await findRecord(db, users, word)
      const password = await readPassword(terminal)
      return await allOrNothing(() => changeRecord(db, commandAuthor(terminal), users, id, password, () => {}))
    })
    writeOutcome(terminal, `Changed the password of ${String(after['email'])}.`, after, json)
  },
}

/** Of a server whose configuration is not known. */
const usualPort = 3000

/** Only the link goes to the output, so that it can be piped. */
async function printLink(word: string, host: string | undefined, json: boolean, terminal: Terminal): Promise<void> {
  const { user, link } = await withDatabase(terminal, async ({ db }) => {
    const { id, email } = await findRecord(db, users, word)
    const site = await findSite(db, id, host, terminal.port?.() ?? usualPort)
    const token = await allOrNothing(() => makeReset(db, commandAuthor(terminal), id))
    return { user: String(email), link: `${site}/password/reset?token=${token}` }
  })
  terminal.errors.write(`A link for ${user} that works once, for ${resetLifetime} minutes:\n`)
  writeOutcome(terminal, link, { user, link }, json)
}
