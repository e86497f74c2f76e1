import { sql } from 'kysely'
import { users } from '../src/records/kinds.ts'
import { type Command, readWords } from './command.ts'
import { recordList } from './record-list.ts'
import { writeRows } from './record-output.ts'
import { withDatabase } from './with-database.ts'

/** Users per query. */
const pageSize = 500

export const userList: Command = {
  usage: 'user list [--json]',
  summary: 'Lists all users with their groups.',
  details: '--json  print each as a line of JSON',
  async run(words, terminal) {
    const {
      values: { json },
    } = readWords(words, [], { json: { type: 'boolean', default: false } })
    if (json) return await recordList(users).run(['--json'], terminal)
    await withDatabase(terminal, async ({ db }) => {
      const query = db
        .selectFrom('users')
        .leftJoin('user_groups', 'user_groups.user_id', 'users.id')
        .leftJoin('groups', 'groups.id', 'user_groups.group_id')
        .leftJoin('licenses', 'licenses.id', 'groups.license_id')
        .select([
          'email',
          'admin',
          sql<string | null>`string_agg(groups.name || ' of ' || licenses.domain, ', ' order by groups.id)`.as(
            'groups',
          ),
        ])
        .groupBy('users.id')
        .orderBy('email')
        .limit(pageSize)
      let heading = true
      for (let listed = await query.execute(); listed.length > 0;) {
        const rows = listed.map(({ admin, ...others }) => ({ ...others, admin: admin ? 'admin' : null }))
        writeRows(terminal, ['email', 'admin', 'groups'], rows, { json, heading })
        heading = false
        listed = await query.where('email', '>', listed.at(-1)?.email ?? '').execute()
      }
    })
  },
}
