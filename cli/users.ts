import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { type Kysely, sql } from 'kysely'
import { Type } from 'typebox'
import type { Tables } from '../src/database/tables.ts'
import { normaliseHost } from '../src/http/host.ts'
import { users } from '../src/records/kinds.ts'
import { makeReset, resetLifetime } from '../src/records/password-resets.ts'
import { changeRecord, createRecord } from '../src/records/repository.ts'
import { formats } from '../src/records/validation.ts'
import { findAccount } from '../src/sign-in/account.ts'
import { shortestPassword } from '../src/sign-in/passwords.ts'
import { command, CommandError, flag, text, UsageError } from './command.ts'
import { findGroup, findRecord, readFields } from './record-options.ts'
import { isTerminal, type Terminal, writeOutcome } from './terminal.ts'
import { allOrNothing, commandAuthor, withDatabase } from './with-database.ts'

export const userAdd = command({
  usage: 'user add <email> [--admin] [--group <group>]... [--license <domain>] [--json]',
  summary: 'Adds one user.',
  options: {
    admin: flag('the user may enter every protected site and change every record'),
    group: {
      ...text('<group>', "a group of the user, by name or id; its members may enter its license's site"),
      multiple: true,
      default: [],
    },
    license: text('<domain>', 'the license of the groups, needed if several licenses have a group of that name'),
    json: flag('print the user as a line of JSON'),
  },
  notes: `The command asks for the password, or reads it from a pipe: user add a@b.example < file
A password has at least ${shortestPassword} characters.`,
  async run(terminal, { admin, group: names, license, json }, [email = '']) {
    if (!formats.email.accepts(email)) throw new CommandError(`"${email}" is not an e-mail address.`)
    const added = await withDatabase(terminal, async ({ db }) => {
      if ((await findAccount(db, email)) !== undefined) throw new CommandError(`There is already a user ${email}.`)
      const groups = new Set<string>()
      for (const name of names) groups.add(await findGroup(db, name, license))
      const password = await readPassword(terminal)
      const user = { email, ...password, admin, group_ids: [...groups] }
      return await allOrNothing(() => createRecord(db, commandAuthor(terminal), users, user))
    })
    writeOutcome(terminal, `Added ${email}.`, added, json)
  },
})

export const userPassword = command({
  usage: 'user password <email|id> [--link [--host <host>]] [--json]',
  summary: 'Changes a password, which ends all sessions.',
  options: {
    link: flag('print a link by which the user chooses a password; it works once, for an hour'),
    host: text(
      '<host>',
      `the site of the link, such as museum.example, localhost:3000 or http://museum.test;
default: the first site of the user's groups, or else the first of all`,
    ),
    json: flag('print the user, or the link, as a line of JSON'),
  },
  notes: `The command asks for the password, or reads it from a pipe: user password a@b.example < file
A password has at least ${shortestPassword} characters. A new link ends the user's last one.`,
  async run(terminal, { link, host, json }, [word = '']) {
    if (link) return await printLink(terminal, word, host, json)
    if (host !== undefined) throw new UsageError('--host needs --link.')
    const { after } = await withDatabase(terminal, async ({ db }) => {
      const { id } = await findRecord(db, users, word)
      const password = await readPassword(terminal)
      return await allOrNothing(() => changeRecord(db, commandAuthor(terminal), users, id, password))
    })
    writeOutcome(terminal, `Changed the password of ${String(after['email'])}.`, after, json)
  },
})

const passwordSchema = Type.Pick(users.create, ['password'])

/**
 * Asks for a password twice without echoing it, or reads the first line of a pipe. A password is never an argument,
 * because other users can see those and the shell stores them.
 * @returns the password as a field of a user
 * @throws {CommandError} if the passwords differ, the password is invalid, or input ends
 */
async function readPassword({ input, errors }: Terminal): Promise<{ password: string }> {
  if (!isTerminal(input)) {
    const password = (await textOf(input)).replace(/\r?\n[^]*/, '')
    readFields(passwordSchema, { password })
    return { password }
  }
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input, output: silent, terminal: true })
  const lines: AsyncIterator<string, unknown> = prompt[Symbol.asyncIterator]()
  const ask = async (question: string) => {
    errors.write(question)
    const line = await lines.next()
    errors.write('\n')
    // Ctrl-C or Ctrl-D
    if (line.done === true) throw new CommandError('Nothing was changed.')
    return line.value
  }
  try {
    const password = await ask('Password: ')
    // Nobody repeats a password that is refused.
    readFields(passwordSchema, { password })
    if ((await ask('Repeat the password: ')) !== password) throw new CommandError('The passwords do not match.')
    return { password }
  } finally {
    prompt.close()
  }
}

/** Of a server whose configuration is not known. */
const usualPort = 3000
const lastPort = 65_535
/** Hosts of this machine, where the server itself answers. Elsewhere a proxy does, with HTTPS. */
const local = /^(?:(?:.*\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Only the link goes to the output, so that it can be piped. */
async function printLink(terminal: Terminal, word: string, host: string | undefined, json: boolean): Promise<void> {
  const { user, link } = await withDatabase(terminal, async ({ db }) => {
    const { id, email } = await findRecord(db, users, word)
    const port = terminal.port?.() ?? usualPort
    const site = host === undefined ? await defaultSite(db, id, port) : await siteOf(db, host)
    const token = await allOrNothing(() => makeReset(db, commandAuthor(terminal), id))
    return { user: String(email), link: `${site}/password/reset?token=${token}` }
  })
  terminal.errors.write(`A link for ${user} that works once, for ${resetLifetime} minutes:\n`)
  writeOutcome(terminal, link, { user, link }, json)
}

/** The first site of the user's groups, or else of all: https://museum.example, or http://localhost:3000. */
async function defaultSite(db: Kysely<Tables>, userId: string, port: number): Promise<string> {
  const found = await sites(db)
    .leftJoin('groups', 'groups.license_id', 'licenses.id')
    .leftJoin('user_groups', join => join.onRef('group_id', '=', 'groups.id').on('user_id', '=', userId))
    .select('domain')
    .orderBy(sql`user_id is null`)
    .orderBy('licenses.id')
    .limit(1)
    .executeTakeFirst()
  if (found === undefined) throw new CommandError('There is no license, so no site can show the link.')
  const { domain } = found
  return local.test(domain) ? `http://${domain}:${port}` : `https://${domain}`
}

/**
 * The site with a host as typed, which may have a port or http://.
 * @throws {CommandError} if no license has the host, or the port is impossible
 */
async function siteOf(db: Kysely<Tables>, host: string): Promise<string> {
  const scheme = /^https?:\/\//.exec(host)?.[0]
  const authority = host.slice(scheme?.length)
  const domain = normaliseHost(authority)
  const site = await sites(db).select('domain').where('domain', '=', domain).limit(1).executeTakeFirst()
  if (domain === null || site === undefined) throw new CommandError(`There is no license for "${host}".`)
  const port = /:(\d+)$/.exec(authority.trim())?.[1]
  if (port !== undefined && (Number(port) < 1 || Number(port) > lastPort)) {
    throw new CommandError(`The port of "${host}" must be from 1 to ${lastPort}.`)
  }
  return `${scheme ?? (local.test(domain) ? 'http://' : 'https://')}${authority.trim()}`
}

/** The licenses that have a site: those with a type. */
function sites(db: Kysely<Tables>) {
  return db.selectFrom('licenses').innerJoin('license_types', 'license_types.id', 'type_id')
}
