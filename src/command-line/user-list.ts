import { sql } from 'kysely'
import { users } from '../records/user.ts'
import { type Command, readWords } from './command.ts'
import { recordList } from './record-list.ts'
import { writeRows } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export const userList: Command = {
  usage: 'user list [--json]',
  summary: 'Lists who can sign in: e-mail address, whether an admin, groups.',
  details: '--json  as lines of JSON',
  async run (words, terminal) {
    const { values: { json } } = readWords(words, [], { json: { type: 'boolean', default: false } })
    if (json) return await recordList(users).run(['--json'], terminal)
    const listed = await withDatabase(terminal, async ({ db }) => await db
      .selectFrom('users')
      .leftJoin('user_groups', 'user_groups.user_id', 'users.id')
      .leftJoin('groups', 'groups.id', 'user_groups.group_id')
      .leftJoin('licenses', 'licenses.id', 'groups.license_id')
      .select(['email', 'admin', sql<string | null>`string_agg(groups.name || ' of ' || licenses.domain, ', ' order by groups.id)`.as('groups')])
      .groupBy('users.id')
      .orderBy('email')
      .execute())
    const rows = listed.map(({ admin, ...others }) => ({ ...others, admin: admin ? 'admin' : null }))
    writeRows(terminal, ['email', 'admin', 'groups'], rows, { json, heading: false })
  }
}
