import { type Kysely, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { formats } from '../records/formats.ts'
import { createRecord } from '../records/repository.ts'
import { users } from '../records/user.ts'
import { findAccount } from '../sign-in/account.ts'
import { shortestPassword } from '../sign-in/passwords.ts'
import { type Command, CommandError, readWords } from './command.ts'
import { readPassword } from './password-input.ts'
import { unlessRefused } from './record-fields.ts'
import { writeOutcome } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export const userAdd: Command = {
  usage: 'user add <email> [--admin] [--group <group>]... [--license <domain>] [--json]',
  summary: 'Adds a user.',
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
      return await unlessRefused(() =>
        createRecord(db, users, { email, ...password, admin: values.admin, group_ids: [...groups] }),
      )
    })
    writeOutcome(terminal, `Added ${email}.`, added, values.json)
  },
}

/** Finds the id of the only group with this name or id. */
async function findGroup(db: Kysely<Tables>, group: string, domain: string | undefined): Promise<string> {
  const found = await db
    .selectFrom('groups')
    .innerJoin('licenses', 'licenses.id', 'groups.license_id')
    .select(['groups.id', 'domain'])
    .where(({ eb, or }) => or([eb('groups.name', '=', group), eb(sql<string>`groups.id::text`, '=', group)]))
    .$if(domain !== undefined, query => query.where('domain', '=', String(domain)))
    .orderBy('groups.id')
    .execute()
  const [first, second] = found
  if (first === undefined) {
    throw new CommandError(
      `There is no group "${group}"${domain === undefined ? '' : ` of a license for "${domain}"`}.`,
    )
  }
  if (second !== undefined) {
    throw new CommandError(
      `There are several groups "${group}": ${found.map(({ id, domain }) => `${id} of ${domain}`).join(', ')}. Use an id, or --license.`,
    )
  }
  return first.id
}
