import { type Kysely, sql } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { findAccount, isEmail } from '../sign-in/account.ts'
import { hashPassword, shortestPassword } from '../sign-in/passwords.ts'
import { type Command, CommandError, readWords } from './command.ts'
import { readPassword } from './password-input.ts'
import { withDatabase } from './with-database.ts'

export const userAdd: Command = {
  usage: 'user add <email> [--admin] [--group <group>]... [--license <domain>]',
  summary: 'Adds somebody who can sign in.',
  details: `--admin             lets them into every protected site
--group <group>     a group's name or id, that they belong to; it lets them into its license's site
--license <domain>  whose groups are meant, where several licenses have one of that name

The password, of ${shortestPassword} characters or more, is asked for, or piped in: user add a@b.example < file`,
  async run (words, terminal) {
    const { values, operands: [email = ''] } = readWords(words, ['email'], {
      admin: { type: 'boolean', default: false },
      group: { type: 'string', multiple: true, default: [] },
      license: { type: 'string' }
    })
    if (!isEmail(email)) throw new CommandError(`"${email}" is no e-mail address.`)
    await withDatabase(terminal, async ({ db }) => {
      if (await findAccount(db, email) !== undefined) throw new CommandError(`There is a user ${email} already.`)
      const groups = new Set<string>()
      for (const group of values.group) groups.add(await findGroup(db, group, values.license))
      const user = { email, admin: values.admin, password_hash: await hashPassword(await readPassword(terminal)) }
      await db.transaction().execute(async transaction => {
        const { id } = await transaction.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow()
        const memberships = Array.from(groups, group => ({ user_id: id, group_id: group }))
        if (memberships.length > 0) await transaction.insertInto('user_groups').values(memberships).execute()
      })
    })
    terminal.output.write(`Added ${email}.\n`)
  }
}

/** The id of the one group that has this name or id. */
async function findGroup (db: Kysely<Tables>, group: string, domain: string | undefined): Promise<string> {
  const found = await db
    .selectFrom('groups')
    .innerJoin('licenses', 'licenses.id', 'groups.license_id')
    .select(['groups.id', 'domain'])
    .where(({ eb, or }) => or([eb('groups.name', '=', group), eb(sql<string>`groups.id::text`, '=', group)]))
    .$if(domain !== undefined, query => query.where('domain', '=', String(domain)))
    .orderBy('groups.id')
    .execute()
  const [first, second] = found
  if (first === undefined) throw new CommandError(`There is no group "${group}"${domain === undefined ? '' : ` of a license for "${domain}"`}.`)
  if (second !== undefined) throw new CommandError(`There are several groups "${group}": ${found.map(({ id, domain }) => `${id} of ${domain}`).join(', ')}. Give an id, or --license.`)
  return first.id
}
