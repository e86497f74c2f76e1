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
  /** Default: the configuration of an empty environment. */
  config?: Config
  /** A plugin to register in place of `routes/`, for using Portico as a library. */
  routes?: FastifyPluginAsync
  /** An open database, which the app does not close. Default: the configured one. */
  database?: Database
  /** Default: no log. */
  logger?: FastifyServerOptions['logger']
  /** For how many milliseconds a closing server still accepts connections. Default: 0. */
  lameDuck?: number
}

/** Builds the server with all its plugins. app.close() closes everything that it opens. */
export async function buildApp(options: AppOptions = {}): Promise<FastifyInstance> {
  const { config = readConfig({}), routes = applicationRoutes, logger = false, lameDuck = 0 } = options
  closeDataDirectory(config.dataDir)
  // Not opened in a plugin: Fastify limits plugins to ten seconds, and migrating may take longer.
  const database = options.database ?? (await openDatabase(config))

  // Imported on demand, so that production loads none of it.
  const debug = config.debug ? await import('../plugins/debug/index.ts') : undefined

  const servers = new HttpServers({ lameDuck })
  const serverOptions = {
    logger,
    ...readingOptions(config.trustProxy),
    bodyLimit,
    serverFactory: servers.create,
    // HttpServers handles these errors. Fastify would call this for its first server only.
    clientErrorHandler: () => {},
    // Requests that arrive while closing are answered, and their answer closes the connection.
    return503OnClosing: false,
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      sendError(error, request, reply.header('vary', 'Accept'))
    },
  }
  const app = fastify(debug === undefined ? serverOptions : debug.profiledOptions(serverOptions))

  app.addHook('preClose', async function closeServers() {
    await servers.close()
  })
  // onClose hooks run last to first, so adding this one first closes the database last.
  if (options.database === undefined) {
    app.addHook('onClose', async function closeDatabase() {
      await database.close()
    })
  }

  try {
    // Awaited, so that the profiler's tree includes the plugins that follow.
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

  /** A request passes these plugins in this order. */
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

  /** Plugins and routes that unmatched requests never reach. */
  async function application(application: FastifyInstance, { cookieSecrets }: LoginOptions) {
    application.register(rememberMe)
    application.register(caching)
    application.register(login, { cookieSecrets })
    application.register(logout)
    application.register(routes)
  }
}

/** The options for reading a request's target and forwarded headers. */
function readingOptions(trustProxy: string[]) {
  if (trustProxy.length === 0) return { rewriteUrl: toOriginForm }
  const readForwarded = forwardedReader(trustProxy)
  return {
    trustProxy,
    /** Reads forwarded headers here, because Fastify logs request.ip before it runs any hook. */
    rewriteUrl(raw: RawRequestDefaultExpression): string {
      readForwarded(raw)
      return toOriginForm(raw)
    },
  }
}
