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
  summary: 'Adds somebody who can sign in.',
  details: `--admin             lets them into every protected site, and change every record
--group <group>     a group's name or id, that they belong to; it lets them into its license's site
--license <domain>  whose groups are meant, where several licenses have one of that name
--json              shows the user as a line of JSON

The password, of ${shortestPassword} characters or more, is asked for, or piped in: user add a@b.example < file`,
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
    if (!formats.email.accepts(email)) throw new CommandError(`"${email}" is no e-mail address.`)
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

/** The id of the one group that has this name or id. */
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
      `There are several groups "${group}": ${found.map(({ id, domain }) => `${id} of ${domain}`).join(', ')}. Give an id, or --license.`,
    )
  }
  return first.id
}
