import { type Kysely, sql } from 'kysely'
import type { Tables } from '../src/database/tables.ts'
import { apiTokens, writeRemovals } from '../src/records/audit.ts'
import { type Command, CommandError, readWords } from './command.ts'
import { commandAuthor } from './command-author.ts'
import { allOrNothing } from './database-failure.ts'
import { writeOutcome } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export const tokenRevoke: Command = {
  usage: 'token revoke <name|id> [--user <email>] [--json]',
  summary: 'Revokes an API token.',
  details: `--user <email>  the user of the token, if several have one of that name
--json          print the token's id, name and user as a line of JSON

Every server refuses the token within a second. A request that has begun is still answered.`,
  async run(words, terminal) {
    const {
      values: { user, json },
      operands: [word = ''],
    } = readWords(words, ['name|id'], { user: { type: 'string' }, json: { type: 'boolean', default: false } })
    const revoked = await withDatabase(terminal, async ({ db }) => {
      const token = await findToken(db, word, user)
      await allOrNothing(() =>
        db.transaction().execute(async transaction => {
          // Locked, so that of several who revoke it at once only the first leaves a line.
          await transaction.selectFrom('api_tokens').select('id').where('id', '=', token.id).forUpdate().execute()
          await writeRemovals(transaction, commandAuthor(terminal), [], apiTokens, token.id)
          await transaction.deleteFrom('api_tokens').where('id', '=', token.id).execute()
        }),
      )
      return token
    })
    writeOutcome(terminal, `Revoked the token "${revoked.name}" of ${revoked.user}.`, revoked, json)
  },
}

/** Finds the only token with this name or id. @throws {CommandError} */
async function findToken(db: Kysely<Tables>, word: string, email: string | undefined) {
  const found = await db
    .selectFrom('api_tokens')
    .innerJoin('users', 'users.id', 'user_id')
    .select(['api_tokens.id', 'name', 'email as user'])
    .where(({ eb, or }) => or([eb('name', '=', word), eb(sql<string>`api_tokens.id::text`, '=', word)]))
    .$if(email !== undefined, query => query.where(sql`lower(email)`, '=', sql`lower(${email})`))
    .orderBy('api_tokens.id')
    .limit(mostShown)
    .execute()
  const [first, second] = found
  const whose = email === undefined ? '' : ` of ${email}`
  if (first === undefined) throw new CommandError(`There is no token "${word}"${whose}.`)
  if (second !== undefined) {
    const list = found.map(({ id, name, user }) => `${id} ("${name}" of ${user})`).join(', ')
    throw new CommandError(`There are several tokens "${word}"${whose}: ${list}. Use an id, or --user.`)
  }
  return first
}

/** Of tokens with the same name. */
const mostShown = 10
