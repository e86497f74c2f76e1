import { sql } from 'kysely'
import { timeText } from '../src/records/selection.ts'
import { users } from '../src/records/kinds.ts'
import { type Command, readWords } from './command.ts'
import { findRecord } from './record-fields.ts'
import { writeRows } from './record-output.ts'
import { withDatabase } from './with-database.ts'

/** Tokens per query. */
const pageSize = 500

export const tokenList: Command = {
  usage: 'token list [<email|id>] [--json]',
  summary: "Lists API tokens, all or a user's.",
  details: `--json  print each as a line of JSON

The tokens themselves are not stored. The time of last use is kept to the hour. Times are in UTC.`,
  async run(words, terminal) {
    const {
      values: { json },
      operands: [word],
    } = readWords(words, [], { json: { type: 'boolean', default: false } }, 1)
    await withDatabase(terminal, async ({ db }) => {
      const user = word === undefined ? undefined : await findRecord(db, users, word)
      const query = db
        .selectFrom('api_tokens')
        .innerJoin('users', 'users.id', 'user_id')
        .select(['api_tokens.id', 'name', 'email as user', 'read_only'])
        .select([
          timeText(sql.ref('api_tokens.expires_at')).as('expires_at'),
          timeText(sql.ref('api_tokens.last_used_at')).as('last_used_at'),
          timeText(sql.ref('api_tokens.created_at')).as('created_at'),
        ])
        .$if(user !== undefined, query => query.where('user_id', '=', user?.id ?? ''))
        .orderBy('api_tokens.id')
        .limit(pageSize)
      let heading = true
      for (let listed = await query.execute(); listed.length > 0;) {
        if (json) writeRows(terminal, [], listed, { json, heading })
        else writeRows(terminal, columns, listed.map(rowOf), { json, heading })
        heading = false
        listed = await query.where('api_tokens.id', '>', listed.at(-1)?.id ?? '').execute()
      }
    })
  },
}

const columns = ['id', 'name', 'user', 'may', 'expires', 'last used', 'created'] as const

interface Listed {
  id: string
  name: string
  user: string
  read_only: boolean
  expires_at: string | null
  last_used_at: string | null
  created_at: string | null
}

function rowOf({ id, name, user, read_only: isReadOnly, ...times }: Listed): Record<(typeof columns)[number], string> {
  return {
    id,
    name,
    user,
    may: isReadOnly ? 'read' : 'write',
    expires: minuteOf(times.expires_at),
    'last used': minuteOf(times.last_used_at),
    created: minuteOf(times.created_at),
  }
}

/** "2027-01-31 00:00" */
function minuteOf(time: string | null): string {
  return time?.slice(0, 16).replace('T', ' ') ?? 'never'
}
