import { randomBytes } from 'node:crypto'
import cookie from '@fastify/cookie'
import fastify, {
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  type RawRequestDefaultExpression,
} from 'fastify'
import access from '../plugins/access.ts'
import caching from '../plugins/caching.ts'
import databasePlugin from '../plugins/database.ts'
import entities from '../plugins/entities.ts'
import errors from '../plugins/errors.ts'
import firewall from '../plugins/firewall.ts'
import forwarded from '../plugins/forwarded.ts'
import host from '../plugins/host.ts'
import license from '../plugins/license.ts'
import locale from '../plugins/locale.ts'
import notFound from '../plugins/not-found.ts'
import overload from '../plugins/overload.ts'
import rememberMe from '../plugins/remember-me.ts'
import requestChecker from '../plugins/request-checker.ts'
import routeTable from '../plugins/route-table.ts'
import securityHeaders from '../plugins/security-headers.ts'
import vary from '../plugins/vary.ts'
import health from '../routes/health.ts'
import applicationRoutes from '../routes/index.ts'
import login, { type LoginOptions } from '../routes/login.ts'
import logout from '../routes/logout.ts'
import ready from '../routes/ready.ts'
import { type Config, readConfig } from './config.ts'
import { type Database, openDatabase } from './database/database.ts'
import { closeDataDirectory } from './database/private-folder.ts'
import { sendError } from './errors/send-error.ts'
import { forwardedReader } from './http/forwarded.ts'
import { HttpServers } from './serving/http-servers.ts'
import { bodyLimit } from './serving/limits.ts'
import { toOriginForm } from './http/target.ts'

export interface AppOptions {
  /** Default: that of an empty environment. */
  config?: Config
  /** What answers where `routes/` would: so Portico is used as a library. */
  routes?: FastifyPluginAsync
  /** An open database, which the app does not close; default: the one that the configuration names. */
  database?: Database
  /** Default: no log. */
  logger?: FastifyServerOptions['logger']
  /** Milliseconds for which closing accepts what still comes; default: none. */
  lameDuck?: number
}

/** Makes the server, with every plugin in its place; what it opens is closed by app.close(). */
export async function buildApp(options: AppOptions = {}): Promise<FastifyInstance> {
  const { config = readConfig({}), routes = applicationRoutes, logger = false, lameDuck = 0 } = options
  closeDataDirectory(config.dataDir)
  // Not left to a plugin: Fastify gives those ten seconds, and migrating may take longer.
  const database = options.database ?? (await openDatabase(config))

  // Loaded only when it is wanted: without it no request meets any of it.
  const debug = config.debug ? await import('../plugins/debug/index.ts') : undefined

  const servers = new HttpServers({ lameDuck })
  const serverOptions = {
    logger,
    ...readingOptions(config.trustProxy),
    bodyLimit,
    serverFactory: servers.create,
    // Left to the servers: Fastify would tell this of the first of them only.
    clientErrorHandler: () => {},
    // What still arrives on a connection is answered as ever, and ends it.
    return503OnClosing: false,
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      sendError(error, request, reply.header('vary', 'Accept'))
    },
  }
  const app = fastify(debug === undefined ? serverOptions : debug.profiledOptions(serverOptions))

  app.addHook('preClose', async function closeServers() {
    await servers.close()
  })
  // The first hook to be added is the last to run: the database is closed after the last request.
  if (options.database === undefined) {
    app.addHook('onClose', async function closeDatabase() {
      await database.close()
    })
  }

  try {
    // Awaited, for its tree to have the plugins that come after it.
    if (debug !== undefined) await app.register(debug.default, { config, database })
    app.register(databasePlugin, { database })
    app.register(entities)
    app.register(routeTable)
    app.register(vary)
    app.register(health)
    app.register(ready, { servers })
    app.register(site)
    return await app
  } catch (error) {
    await app.close()
    throw error
  }

  /** product.md, "The request's way": the order of these is the order in which a request meets them. */
  async function site(site: FastifyInstance) {
    const [first = randomBytes(32).toString('hex'), ...others] = config.cookieSecrets
    const cookieSecrets = [first, ...others] as const
    site.register(securityHeaders)
    site.register(errors)
    site.register(overload)
    site.register(forwarded, { trustProxy: config.trustProxy })
    site.register(host)
    site.register(license)
    site.register(cookie, { secret: [...cookieSecrets] })
    site.register(firewall, { cookieSecrets })
    site.register(locale, { defaultLocale: config.defaultLocale })
    site.register(access)
    site.register(requestChecker)
    site.register(notFound)
    site.register(application, { cookieSecrets })
  }

  /** What unmatched requests meet nothing of. */
  async function application(application: FastifyInstance, { cookieSecrets }: LoginOptions) {
    application.register(rememberMe)
    application.register(caching)
    application.register(login, { cookieSecrets })
    application.register(logout)
    application.register(routes)
  }
}

/** How Fastify reads a request's target and its forwarded headers. */
function readingOptions(trustProxy: string[]) {
  if (trustProxy.length === 0) return { rewriteUrl: toOriginForm }
  const readForwarded = forwardedReader(trustProxy)
  return {
    trustProxy,
    /** Fastify calls nothing earlier, and logs request.ip before any hook. */
    rewriteUrl(raw: RawRequestDefaultExpression): string {
      readForwarded(raw)
      return toOriginForm(raw)
    },
  }
}
