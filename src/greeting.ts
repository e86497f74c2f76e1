import type { FastifyBaseLogger } from 'fastify'
import type { Database } from './database/database.ts'
import { normaliseHost } from './http/host.ts'
import { program } from './program.ts'
import { closureOf } from './records/closure.ts'

/** How many sites are shown as links. */
const mostLinks = 3
/** How many sites are read. Reading all of a million would occupy an embedded database for a second. */
const mostRead = 1000

/** The addresses at which a server answers requests to localhost. */
const localAddresses = ['127.0.0.1', 'localhost', '0.0.0.0', '::1', '::']

interface Greeting {
  /** The address that the server listens on. */
  host: string
  port: number
  /** Whether `npm run dev` has restarted the server, so that the same lines are on the screen already. */
  isRestart?: boolean
}

/** What a running server can tell of itself. */
interface Greeter {
  database: Pick<Database, 'db'>
  log: Pick<FastifyBaseLogger, 'warn'>
  /** Pages by their labels, and whether only hosts with a license have them. */
  landmarks: ReadonlyMap<string, { path: string; needsSite: boolean }>
}

/** Tells a terminal in at most four lines which sites are served, where other pages are, and what is missing. */
export async function greet(
  app: Greeter,
  { host, port, isRestart = false }: Greeting,
  output: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>,
): Promise<void> {
  if (!output.isTTY || isRestart) return
  try {
    output.write((await linesOf(app, host, port)).map(line => `${line}\n`).join(''))
  } catch (error) {
    app.log.warn({ err: error }, 'The sites cannot be listed.')
  }
}

async function linesOf(app: Greeter, host: string, port: number): Promise<string[]> {
  const { db } = app.database
  const sites = selectSites(db)
  const local = localAddresses.includes(host) ? ['localhost', '127.0.0.1', '[::1]', host] : [host]
  const reachable = await db
    .selectFrom(
      sites.where(({ eb, or }) => or([eb('domain', 'in', local), eb('domain', 'like', '%.localhost')])).as('reachable'),
    )
    .selectAll()
    .orderBy('id')
    .execute()
  const read = await sites.execute()
  const user = await db.selectFrom('users').select('id').limit(1).executeTakeFirst()
  const now = Date.now()

  // A domain that is no host is never served, and might control the terminal.
  const links = reachable
    .filter(site => closureOf(site, now) === null && normaliseHost(site.domain) === site.domain)
    .slice(0, mostLinks)
    .map(({ domain }) => linkTo(domain))
  const closed = read.filter(site => closureOf(site, now) !== null)
  const [base = linkTo(host.includes(':') ? `[${host}]` : host)] = links
  const lines = [sitesLine(links, read.length - closed.length, closed.length, base)]
  for (const [label, { path, needsSite }] of app.landmarks) {
    if (links.length > 0 || !needsSite) lines.push(`${label.padEnd(10)}${new URL(path, base).href}`)
  }
  if (user === undefined) lines.push(`No users yet: ${program} user add you@museum.example --admin`)
  return lines

  function linkTo(domain: string): string {
    return `http://${domain}:${port}/`
  }
}

/** Of several licenses with the same domain, only the first counts. */
function selectSites(db: Database['db']) {
  return db
    .selectFrom('licenses')
    .innerJoin('license_types', 'license_types.id', 'licenses.type_id')
    .distinctOn('domain')
    .select(['licenses.id', 'domain', 'valid_from', 'valid_until', 'suspended'])
    .orderBy('domain')
    .orderBy('licenses.id')
    .limit(mostRead)
}

/**
 * @param open the number of sites that answer everybody
 * @param closed the number of sites that answer only admins
 */
function sitesLine(links: readonly string[], open: number, closed: number, base: string): string {
  if (open + closed === 0) return `No sites yet: ${program} seed adds three, and ${base} says how to add your own.`
  const label = 'Sites'.padEnd(10)
  if (open === 0 && links.length === 0) return `${label}${closed} closed: ${program} license list says why.`
  const others = open - links.length
  const many = open + closed === mostRead ? 'many' : String(others)
  if (links.length === 0) return `${label}${many}, served at ${base}${closed > 0 ? `, and ${closed} closed` : ''}`
  const rest = [...(others > 0 ? [`${many} more`] : []), ...(closed > 0 ? [`${closed} closed`] : [])]
  return `${label}${links.join('  ')}${rest.length > 0 ? `  and ${rest.join(', ')}` : ''}`
}
