import type { FastifyInstance } from 'fastify'
import { normaliseHost } from './http/host.ts'
import { program } from './program.ts'
import { closureOf } from './records/closure.ts'

const mostLinks = 3

/** The addresses at which a server answers requests to localhost. */
const localAddresses = ['127.0.0.1', 'localhost', '0.0.0.0', '::1', '::']

type Greeter = Pick<FastifyInstance, 'database' | 'log' | 'landmarks'>

/**
 * Tells a terminal in at most five lines which database and sites are served, where pages are, and what is missing.
 * @param isRestart whether `npm run dev` has restarted the server, so that the same lines are on the screen already
 */
export async function greet(
  app: Greeter,
  { host, port, isRestart }: { host: string; port: number; isRestart: boolean },
  output: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>,
): Promise<void> {
  if (!output.isTTY || isRestart) return
  try {
    output.write((await linesOf(app, host, port)).map(line => `${line}\n`).join(''))
  } catch (error) {
    app.log.warn({ err: error }, 'The sites cannot be listed.')
  }
}

async function linesOf({ database: { db, name }, landmarks }: Greeter, host: string, port: number): Promise<string[]> {
  const local = localAddresses.includes(host) ? ['localhost', '127.0.0.1', '[::1]', host] : [host]
  const licenses = db.selectFrom('licenses').innerJoin('license_types', 'license_types.id', 'licenses.type_id')
  const reachable = await licenses
    // Of several licenses with the same domain, only the first counts.
    .distinctOn('domain')
    .select(['licenses.id', 'domain', 'valid_from', 'valid_until', 'suspended'])
    .where(({ eb, or }) => or([eb('domain', 'in', local), eb('domain', 'like', '%.localhost')]))
    .orderBy('domain')
    .orderBy('licenses.id')
    .execute()
  const links = reachable
    .sort((one, other) => Number(one.id) - Number(other.id))
    // A domain that is no host is never served, and might control the terminal.
    .filter(site => closureOf(site, Date.now()) === null && normaliseHost(site.domain) === site.domain)
    .slice(0, mostLinks)
    .map(({ domain }) => linkTo(domain))
  const [base = linkTo(host.includes(':') ? `[${host}]` : host)] = links
  const hasSites = (await licenses.select('licenses.id').limit(1).executeTakeFirst()) !== undefined
  const hasUsers = (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined

  const sites = links.length > 0 ? links.join('  ') : `served at ${base} by their domains`
  return [
    `Database  ${name}`,
    hasSites
      ? `${'Sites'.padEnd(10)}${sites}`
      : `No sites yet: ${program} seed adds three, and ${base} says how to add your own.`,
    ...[...landmarks]
      .filter(([, { needsSite }]) => links.length > 0 || !needsSite)
      .map(([label, { path }]) => `${label.padEnd(10)}${new URL(path, base).href}`),
    ...(hasUsers ? [] : [`No users yet: ${program} user add you@museum.example --admin`]),
  ]

  function linkTo(domain: string): string {
    return `http://${domain}:${port}/`
  }
}
