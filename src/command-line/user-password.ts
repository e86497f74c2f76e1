import { users } from '../records/user.ts'
import { changeRecord } from '../records/repository.ts'
import { shortestPassword } from '../sign-in/passwords.ts'
import { type Command, readWords } from './command.ts'
import { readPassword } from './password-input.ts'
import { findRecord, unlessRefused } from './record-fields.ts'
import { writeOutcome } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export const userPassword: Command = {
  usage: 'user password <email|id> [--json]',
  summary: "Changes a password, which ends all of the user's sessions.",
  details: `--json  print the user as a line of JSON

The command asks for the password, or reads it from a pipe: user password a@b.example < file
A password has at least ${shortestPassword} characters.`,
  async run(words, terminal) {
    const {
      values: { json },
      operands: [word = ''],
    } = readWords(words, ['email|id'], { json: { type: 'boolean', default: false } })
    const { after } = await withDatabase(terminal, async ({ db }) => {
      const { id } = await findRecord(db, users, word)
      const password = await readPassword(terminal)
      return await unlessRefused(() => changeRecord(db, users, id, password, () => {}))
    })
    writeOutcome(terminal, `Changed the password of ${String(after['email'])}.`, after, json)
  },
}
