import { sql } from 'kysely'
import { Type } from 'typebox'
import { apiTokens, writeAdditions } from '../src/records/audit.ts'
import { line } from '../src/records/fields.ts'
import { users } from '../src/records/kinds.ts'
import { apiTokenPrefix, makeToken } from '../src/sign-in/random-token.ts'
import { type Command, CommandError, readWords, UsageError } from './command.ts'
import { commandAuthor } from './command-author.ts'
import { allOrNothing } from './database-failure.ts'
import { readExpiry } from './expiry.ts'
import { findRecord, readFields } from './record-fields.ts'
import { writeOutcome } from './record-output.ts'
import { withDatabase } from './with-database.ts'

const schema = Type.Object({ name: line('The name of the token.') })

export const tokenAdd: Command = {
  usage: 'token add <email|id> --name <name> [--expires <when>] [--read-only] [--json]',
  summary: 'Adds an API token for a user, and prints it.',
  details: `--name <name>     tells the user's tokens apart: the script or the machine that has it
--expires <when>  days from now, such as 90d, or a day such as 2027-01-31, on which it ends at 00:00 UTC;
                  default: never
--read-only       the token may read and change nothing
--json            print the token as a line of JSON

Whoever has the token acts as the user, in the API only: curl -H "Authorization: Bearer $TOKEN" …
The output is the token alone. Only its hash is stored, so it cannot be shown again.`,
  async run(words, terminal) {
    const {
      values: { name, expires, 'read-only': isReadOnly, json },
      operands: [word = ''],
    } = readWords(words, ['email|id'], {
      name: { type: 'string' },
      expires: { type: 'string' },
      'read-only': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    })
    if (name === undefined) throw new UsageError('--name is missing.')
    readFields(schema, { name })
    if (/^\d+$/.test(name)) throw new CommandError('--name must not be a number, which would look like an id.')
    const expiresAt = expires === undefined ? null : readExpiry(expires)
    const { text: token, hash } = makeToken(apiTokenPrefix)
    const { user, added } = await withDatabase(terminal, async ({ db }) => {
      const user = await findRecord(db, users, word)
      const email = String(user['email'])
      return await allOrNothing(() =>
        db.transaction().execute(async transaction => {
          const added = await transaction
            .insertInto('api_tokens')
            .values({ user_id: user.id, name, hash, read_only: isReadOnly, expires_at: expiresAt })
            .onConflict(conflict => conflict.columns(['user_id', 'name']).doNothing())
            .returning(['id', 'expires_at'])
            .executeTakeFirst()
          if (added === undefined) throw new CommandError(`${email} already has a token "${name}".`)
          await writeAdditions(transaction, commandAuthor(terminal), apiTokens, sql`select ${added.id}::bigint`)
          return { user: email, added }
        }),
      )
    })
    terminal.errors.write(`Added the token "${name}" of ${user}. It is not shown again:\n`)
    const { id, expires_at: ends } = added
    writeOutcome(terminal, token, { id, user, name, read_only: isReadOnly, expires_at: ends, token }, json)
  },
}
