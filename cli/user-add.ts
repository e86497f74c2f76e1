import { formats } from '../src/records/validation.ts'
import { createRecord } from '../src/records/repository.ts'
import { users } from '../src/records/kinds.ts'
import { findAccount } from '../src/sign-in/account.ts'
import { shortestPassword } from '../src/sign-in/passwords.ts'
import { type Command, CommandError, readWords } from './command.ts'
import { commandAuthor } from './command-author.ts'
import { allOrNothing } from './database-failure.ts'
import { readPassword } from './password-input.ts'
import { writeOutcome } from './record-output.ts'
import { findGroup } from './references.ts'
import { withDatabase } from './with-database.ts'

export const userAdd: Command = {
  usage: 'user add <email> [--admin] [--group <group>]... [--license <domain>] [--json]',
  summary: 'Adds one user.',
  details: `--admin             the user may enter every protected site and change every record
--group <group>     a group of the user, by name or id; its members may enter its license's site
--license <domain>  the license of the groups, needed if several licenses have a group of that name
--json              print the user as a line of JSON

The command asks for the password, or reads it from a pipe: user add a@b.example < file
A password has at least ${shortestPassword} characters.`,
  async run(words, terminal) {
    const {
      values,
      operands: [email = ''],
    } = readWords(words, ['email'], {
      admin: { type: 'boolean', default: false },
      group: { type: 'string', multiple: true, default: [] },
      license: { type: 'string' },
      json: { type: 'boolean', default: false },
    })
    if (!formats.email.accepts(email)) throw new CommandError(`"${email}" is not an e-mail address.`)
    const added = await withDatabase(terminal, async ({ db }) => {
      if ((await findAccount(db, email)) !== undefined) throw new CommandError(`There is already a user ${email}.`)
      const groups = new Set<string>()
      for (const group of values.group) groups.add(await findGroup(db, group, values.license))
      const password = await readPassword(terminal)
      return await allOrNothing(() =>
        createRecord(db, commandAuthor(terminal), users, {
          email,
          ...password,
          admin: values.admin,
          group_ids: [...groups],
        }),
      )
    })
    writeOutcome(terminal, `Added ${email}.`, added, values.json)
  },
}
