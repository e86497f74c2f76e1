import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance } from 'fastify'
import access from '../../plugins/access.ts'
import bearer from '../../plugins/bearer.ts'
import caching from '../../plugins/caching.ts'
import checks from '../../plugins/checks.ts'
import databasePlugin from '../../plugins/database.ts'
import entities from '../../plugins/entities.ts'
import errors from '../../plugins/errors.ts'
import firewall from '../../plugins/firewall.ts'
import host from '../../plugins/host.ts'
import license from '../../plugins/license.ts'
import locale from '../../plugins/locale.ts'
import notFound from '../../plugins/not-found.ts'
import overload from '../../plugins/overload.ts'
import rememberMe from '../../plugins/remember-me.ts'
import requestChecker from '../../plugins/request-checker.ts'
import routeTable from '../../plugins/route-table.ts'
import securityHeaders from '../../plugins/security-headers.ts'
import sessionCookie from '../../plugins/session-cookie.ts'
import validity from '../../plugins/validity.ts'
import vary from '../../plugins/vary.ts'
import { readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { HttpServers } from '../../src/serving/http-servers.ts'
import { type BenchDatabase, cookieSecret, environmentOf } from '../bench-database.ts'
import { listenWith } from '../measurable.ts'

/** The plugins of a site, in the order of app.ts. */
const plugins: Record<string, (site: FastifyInstance) => unknown> = {
  'security-headers': site => site.register(securityHeaders),
  errors: site => site.register(errors),
  overload: site => site.register(overload),
  host: site => site.register(host),
  license: site => site.register(license),
  cookie: site => site.register(cookie, { secret: cookieSecret }),
  'session-cookie': site => site.register(sessionCookie, { cookieSecrets: [cookieSecret] }),
  bearer: site => site.register(bearer, { cookieSecrets: [cookieSecret] }),
  firewall: site => site.register(firewall, { cookieSecrets: [cookieSecret] }),
  locale: site => site.register(locale, { defaultLocale: 'en' }),
  validity: site => site.register(validity),
  access: site => site.register(access),
  'request-checker': site => site.register(requestChecker),
  'not-found': site => site.register(notFound),
  'remember-me': site => site.register(rememberMe),
  caching: site => site.register(caching),
}

export const pluginNames = Object.keys(plugins)

/** A site with the first `count` of Portico's plugins, on Portico's servers or on Fastify's own. */
export default async function start({
  database: bench,
  count,
  ownServers,
}: {
  database: BenchDatabase
  count: number
  ownServers: boolean
}) {
  const database = await openDatabase(readConfig(environmentOf(bench)))
  const app = Fastify(ownServers ? { serverFactory: new HttpServers().create } : {})
  app.register(databasePlugin, { database })
  app.register(entities)
  app.register(routeTable)
  app.register(vary)
  app.register(checks)
  app.register(async function site(site) {
    for (const register of Object.values(plugins).slice(0, count)) register(site)
    site.get('/opening', async function showOpening() {
      return { site: 'Museum of Speed', language: 'en-GB' }
    })
  })
  app.addHook('onClose', async function closeDatabase() {
    await database.close()
  })
  return listenWith(app)
}
