import type { Kysely } from 'kysely'
import type { Tables } from '../src/database/tables.ts'
import { normaliseHost } from '../src/http/host.ts'
import { CommandError } from './command.ts'

/** Hosts of this machine, where the server itself answers. Elsewhere a proxy does, with HTTPS. */
const local = /^(?:(?:.*\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/
const lastPort = 65_535

/**
 * The address of the site that a user's link leads to: https://museum.example, or http://localhost:3000.
 * @param host as typed, with a port or http:// if needed; undefined for the first site of the user's groups, or of all
 * @param port of the server on this machine
 * @throws {CommandError} if no license has the host or there is no license, or if the port is impossible
 */
export async function findSite(
  db: Kysely<Tables>,
  userId: string,
  host: string | undefined,
  port: number,
): Promise<string> {
  if (host === undefined) {
    const domain = (await firstDomain(db, userId)) ?? (await firstDomain(db))
    if (domain === undefined) throw new CommandError('There is no license, so no site can show the link.')
    return local.test(domain) ? `http://${domain}:${port}` : `https://${domain}`
  }
  const scheme = /^https?:\/\//.exec(host)?.[0]
  const authority = host.slice(scheme?.length)
  const domain = normaliseHost(authority)
  if (domain === null || !(await isLicensed(db, domain))) throw new CommandError(`There is no license for "${host}".`)
  const stated = /:(\d+)$/.exec(authority.trim())?.[1]
  if (stated !== undefined && (Number(stated) < 1 || Number(stated) > lastPort)) {
    throw new CommandError(`The port of "${host}" must be from 1 to ${lastPort}.`)
  }
  return `${scheme ?? (local.test(domain) ? 'http://' : 'https://')}${authority.trim()}`
}

/** The domain of the first license, of those whose groups a user is in if there is a user. */
async function firstDomain(db: Kysely<Tables>, userId?: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('licenses')
    .innerJoin('license_types', 'license_types.id', 'type_id')
    .select('domain')
    .$if(userId !== undefined, query =>
      query.where('licenses.id', 'in', ({ selectFrom }) =>
        selectFrom('groups')
          .innerJoin('user_groups', 'group_id', 'groups.id')
          .select('license_id')
          .where('user_id', '=', userId ?? ''),
      ),
    )
    .orderBy('licenses.id')
    .limit(1)
    .executeTakeFirst()
  return found?.domain
}

async function isLicensed(db: Kysely<Tables>, domain: string): Promise<boolean> {
  const license = await db
    .selectFrom('licenses')
    .innerJoin('license_types', 'license_types.id', 'type_id')
    .select('licenses.id')
    .where('domain', '=', domain)
    .limit(1)
    .executeTakeFirst()
  return license !== undefined
}
