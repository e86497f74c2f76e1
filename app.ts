import { existsSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { ProfilerOptions } from 'fastify-profiler'
import type { TObject } from 'typebox'
import cookie from '@fastify/cookie'
import fastify, { type FastifyInstance, type FastifyPluginAsync, type FastifyServerOptions } from 'fastify'
import fp from 'fastify-plugin'
import access from './plugins/access.ts'
import bearer from './plugins/bearer.ts'
import caching from './plugins/caching.ts'
import checksPlugin from './plugins/checks.ts'
import databasePlugin from './plugins/database.ts'
import entities from './plugins/entities.ts'
import errors from './plugins/errors.ts'
import firewall from './plugins/firewall.ts'
import forwarded from './plugins/forwarded.ts'
import host from './plugins/host.ts'
import landmarks from './plugins/landmarks.ts'
import license from './plugins/license.ts'
import locale from './plugins/locale.ts'
import metrics from './plugins/metrics.ts'
import notFound from './plugins/not-found.ts'
import overload from './plugins/overload.ts'
import recordKinds from './plugins/record-kinds.ts'
import rememberMe from './plugins/remember-me.ts'
import requestChecker from './plugins/request-checker.ts'
import routeTable from './plugins/route-table.ts'
import securityHeaders from './plugins/security-headers.ts'
import sessionCookie from './plugins/session-cookie.ts'
import validity from './plugins/validity.ts'
import vary from './plugins/vary.ts'
import admin from './routes/admin/index.ts'
import applicationRoutes from './routes/index.ts'
import login from './routes/login.ts'
import logout from './routes/logout.ts'
import password from './routes/password.ts'
import probes from './routes/probes.ts'
import { signInLimits } from './routes/sign-in-limits.ts'
import type { Command } from './cli/terminal.ts'
import { type Config, readConfig } from './src/config.ts'
import { readSettings, type Settings } from './src/settings.ts'
import { type Database, type DatabaseOptions, openDatabase } from './src/database/database.ts'
import { StartError } from './src/errors/start-error.ts'
import type { MakeOwnEntities } from './src/entities.ts'
import type { Migrations } from './src/database/migrations.ts'
import { assertDistinct } from './src/records/distinct-kinds.ts'
import type { RecordKind } from './src/records/record-kind.ts'
import { HttpServers, serverOptions } from './src/serving/http-servers.ts'
import { type CookieSecrets, cookieSecretsOf } from './src/sign-in/session-token.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The values of the settings that an application adds. */
    settings: Settings
  }
}

/** What an application that is built on Portico adds to it. */
export interface Additions {
  /** A plugin in place of `routes/`, which it may register itself. Its routes are behind all checks. */
  routes?: FastifyPluginAsync
  /** A folder whose files are served as they are: public/logo.svg as /logo.svg. Files added later need a restart. */
  files?: string
  /** Plugins with an onRequest hook. They come after Portico's own checks, and only see requests that have a route. */
  checks?: readonly FastifyPluginAsync[]
  /** Checks that come just before, and also see requests that have no route, which they can hide. */
  earlyChecks?: readonly FastifyPluginAsync[]
  /** Migrations with names of their own, applied after Portico's. */
  migrations?: Migrations
  /** Records for a first look, added once per database after the demonstration. "0001-demonstration" replaces that. */
  seeds?: Migrations
  /** Makes the entities that `app.entities` has beside Portico's. */
  entities?: MakeOwnEntities
  /** Kinds of records, for the API, the commands and exports. Each comes after the kinds that it refers to. */
  records?: readonly RecordKind[]
  /** Commands beside Portico's. */
  commands?: readonly Command[]
  /** Panels of the profiler. */
  panels?: NonNullable<ProfilerOptions['panels']>
  /** Variables of the environment and of .env, by their names. Their values are in app.settings. */
  settings?: TObject
}

export interface AppOptions extends Additions {
  /** Default: the configuration of an empty environment. */
  config?: Config
  /** From which the application's settings are read. Default: none. */
  variables?: NodeJS.ProcessEnv
  /** An open and migrated database, which the app does not close. Default: the configured one. */
  database?: Database
  /** Default: no log. */
  logger?: FastifyServerOptions['logger']
  /** For how many milliseconds a closing server still accepts connections. Default: 0. */
  lameDuck?: number
  /** Called when an embedded database is created. */
  onCreation?: DatabaseOptions['onCreation']
}

/**
 * Builds the server with all its plugins. app.close() closes everything that it opens.
 * @throws {StartError} if an option is wrong, or the database cannot be used
 */
export async function buildApp(options: AppOptions = {}): Promise<FastifyInstance> {
  const { config = readConfig({}), logger = false, lameDuck = 0 } = options
  const { files, migrations, seeds, onCreation, panels = [], entities: makeOwn, records: own = [] } = options
  if (files !== undefined && !existsSync(files)) throw new StartError(`The folder of the files, ${files}, is missing.`)
  assertDistinct(own)
  const settings = readSettings(options.settings, options.variables ?? {})
  // Not opened in a plugin: Fastify limits plugins to ten seconds, and migrating may take longer.
  const database = options.database ?? (await openDatabase({ ...config, migrations, seeds, onCreation }))
  // Imported on demand, so that production loads none of it.
  const debug = config.debug ? await import('./plugins/debug/index.ts') : undefined

  const servers = new HttpServers({ lameDuck })
  const fastifyOptions = serverOptions({ logger, trustProxy: config.trustProxy, servers })
  const app = fastify(debug === undefined ? fastifyOptions : debug.profiledOptions(fastifyOptions))

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
    if (debug !== undefined) await app.register(debug.default, { config, panels })
    app.decorate('settings', settings)
    app.register(landmarks)
    app.register(databasePlugin, { database })
    app.register(entities, { makeOwn })
    app.register(recordKinds, { own })
    app.register(routeTable)
    app.register(vary)
    app.register(checksPlugin)
    app.register(metrics, { config })
    app.register(probes, { servers })
    app.register(site, { ...options, config })
    return await app
  } catch (error) {
    await app.close()
    throw error
  }
}

/** A request passes these plugins in this order. */
async function site(app: FastifyInstance, additions: Additions & { config: Config }) {
  const { config, checks = [], earlyChecks = [] } = additions
  const cookieSecrets = cookieSecretsOf(config.cookieSecrets)
  app.register(securityHeaders)
  app.register(errors)
  app.register(overload)
  app.register(forwarded, { trustProxy: config.trustProxy })
  app.register(host)
  app.register(license)
  app.register(cookie, { secret: [...cookieSecrets] })
  app.register(sessionCookie, { cookieSecrets })
  app.register(bearer, { cookieSecrets })
  app.register(firewall, { cookieSecrets })
  app.register(locale, { defaultLocale: config.defaultLocale })
  app.register(validity)
  app.register(access)
  app.register(requestChecker)
  for (const check of earlyChecks) app.register(shared(check))
  app.register(notFound)
  // After not-found, so that they cannot hide that a path has no route.
  for (const check of checks) app.register(shared(check))
  app.register(application, { ...additions, cookieSecrets })
}

/** A check that is not wrapped by fastify-plugin would apply to no route, and pass everybody. */
function shared(check: FastifyPluginAsync): FastifyPluginAsync {
  return Object.hasOwn(check, Symbol.for('skip-override')) ? check : fp(check)
}

/** Plugins and routes that unmatched requests never reach. */
async function application(app: FastifyInstance, additions: Additions & { cookieSecrets: CookieSecrets }) {
  const { cookieSecrets, files, routes = applicationRoutes } = additions
  app.register(rememberMe)
  app.register(caching)
  const limits = signInLimits(app, cookieSecrets[0])
  app.register(login, { limits })
  app.register(logout)
  app.register(password, { limits })
  app.register(admin)
  app.register(routes)
  if (files !== undefined) {
    const root = realpathSync(files)
    // A route for each file, so that a path without one is answered as the specification says.
    app.register(import('@fastify/static'), {
      root,
      wildcard: false,
      // The router would take these characters for patterns, and * in the middle of a path would end the process.
      globIgnore: ['**/*[:*]*', '**/*[:*]*/**'],
      index: false,
      cacheControl: false,
      decorateReply: false,
      setHeaders: response => response.setHeader('x-content-type-options', 'nosniff'),
      // A link may lead out of the folder.
      allowedPath: path => !existsSync(join(root, path)) || realpathSync(join(root, path)).startsWith(root + sep),
    })
  }
}
