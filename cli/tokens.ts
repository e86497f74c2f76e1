import { type Kysely, type RawBuilder, sql } from 'kysely'
import { Type } from 'typebox'
import type { Tables } from '../src/database/tables.ts'
import { timeText } from '../src/records/selection.ts'
import { apiTokens, writeAdditions, writeRemovals } from '../src/records/audit.ts'
import { line } from '../src/records/fields.ts'
import { users } from '../src/records/kinds.ts'
import { formats } from '../src/records/validation.ts'
import { apiTokenPrefix, makeToken } from '../src/sign-in/random-token.ts'
import { command, CommandError, flag, text, UsageError } from './command.ts'
import { findRecord, readFields } from './record-options.ts'
import { listWriter, writeOutcome } from './terminal.ts'
import { allOrNothing, commandAuthor, withDatabase } from './with-database.ts'

const schema = Type.Object({ name: line('The name of the token.') })

export const tokenAdd = command({
  usage: 'token add <email|id> --name <name> [--expires <when>] [--read-only] [--json]',
  summary: 'Adds an API token for a user, and prints it.',
  options: {
    name: text('<name>', "tells the user's tokens apart: the script or the machine that has it"),
    expires: text(
      '<when>',
      'days from now, such as 90d, or a day such as 2027-01-31, on which it ends at 00:00 UTC;\ndefault: never',
    ),
    'read-only': flag('the token may read and change nothing'),
    json: flag('print the token as a line of JSON'),
  },
  notes: `Whoever has the token acts as the user, in the API only: curl -H "Authorization: Bearer $TOKEN" …
The output is the token alone. Only its hash is stored, so it cannot be shown again.`,
  async run(terminal, { name, expires, 'read-only': isReadOnly, json }, [word = '']) {
    if (name === undefined) throw new UsageError('--name is missing.')
    readFields(schema, { name })
    if (/^\d+$/.test(name)) throw new CommandError('--name must not be a number, which would look like an id.')
    const expiresAt = expires === undefined ? null : readExpiry(expires)
    const { text: token, hash } = makeToken(apiTokenPrefix)
    const added = await withDatabase(terminal, async ({ db }) => {
      const { id: userId, email } = await findRecord(db, users, word)
      const user = String(email)
      return await allOrNothing(() =>
        db.transaction().execute(async transaction => {
          const added = await transaction
            .insertInto('api_tokens')
            .values({ user_id: userId, name, hash, read_only: isReadOnly, expires_at: expiresAt })
            .onConflict(conflict => conflict.columns(['user_id', 'name']).doNothing())
            .returning(['id', 'expires_at'])
            .executeTakeFirst()
          if (added === undefined) throw new CommandError(`${user} already has a token "${name}".`)
          const { id, expires_at: ends } = added
          await writeAdditions(transaction, commandAuthor(terminal), apiTokens, sql`select ${id}::bigint`)
          return { id, user, name, read_only: isReadOnly, expires_at: ends, token }
        }),
      )
    })
    terminal.errors.write(`Added the token "${name}" of ${added.user}. It is not shown again:\n`)
    writeOutcome(terminal, token, added, json)
  },
})

/** In days. */
const longestLife = 36_500
const dayLength = 24 * 60 * 60 * 1000

/**
 * Reads when something ends: days from the database's now (90d), or the beginning of a day in UTC (2027-01-31).
 * @throws {UsageError} if the text is neither, or the time has passed or is further away than a century
 */
function readExpiry(text: string): Date | RawBuilder<Date> {
  const isDay = !text.includes('T') && formats.moment.accepts(text)
  const day = isDay ? Date.parse(text) : NaN
  const days = /^[1-9]\d{0,4}d$/.test(text) ? Number.parseInt(text) : (day - Date.now()) / dayLength
  if (!(days > 0 && days <= longestLife)) {
    throw new UsageError(
      '--expires must be a number of days such as 90d or a day in the future such as 2027-01-31, within a century.',
    )
  }
  return isDay ? new Date(day) : sql<Date>`now() + ${days} * interval '24 hours'`
}

export const tokenList = command({
  usage: 'token list [<email|id>] [--json]',
  summary: "Lists API tokens, all or a user's.",
  options: { json: flag('print each as a line of JSON') },
  notes: 'The tokens themselves are not stored. The time of last use is kept to the hour. Times are in UTC.',
  async run(terminal, { json }, [word]) {
    const write = listWriter(terminal, json, ['id', 'name', 'user', 'may', 'expires', 'last used', 'created'])
    await withDatabase(terminal, async ({ db }) => {
      const user = word === undefined ? undefined : await findRecord(db, users, word)
      const listed = await db
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
        .execute()
      if (listed.length === 0) return
      write(
        listed,
        ({ id, name, user, read_only: isReadOnly, expires_at: ends, last_used_at: used, created_at: made }) => [
          id,
          name,
          user,
          isReadOnly ? 'read' : 'write',
          ...[ends, used, made].map(minuteOf),
        ],
      )
    })
  },
})

/** "2027-01-31 00:00" */
function minuteOf(time: string | null): string {
  return time?.slice(0, 16).replace('T', ' ') ?? 'never'
}

export const tokenRevoke = command({
  usage: 'token revoke <name|id> [--user <email>] [--json]',
  summary: 'Revokes an API token.',
  options: {
    user: text('<email>', 'the user of the token, if several have one of that name'),
    json: flag("print the token's id, name and user as a line of JSON"),
  },
  notes: 'Every server refuses the token within a second. A request that has begun is still answered.',
  async run(terminal, { user, json }, [word = '']) {
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
})

/** Of tokens with the same name. */
const mostShown = 10

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
