import { AsyncResource } from 'node:async_hooks'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type {} from '../checks.ts'
import type {} from '../database.ts'
import type {} from '../landmarks.ts'
import { findLicense } from '../license.ts'
import { isMissingRoute, missingRoutes } from '../not-found.ts'
import type { Config } from '../../src/config.ts'
import { databaseFolder } from '../../src/database/database.ts'
import { toError } from '../../src/errors/error-answer.ts'
import { expectedErrors } from '../../src/errors/http-errors.ts'
import { cachePanel } from './panels/cache.ts'
import { licensePanel } from './panels/license.ts'
import { securityPanel } from './panels/security.ts'
import profiler, { type ProfilerOptions } from 'fastify-profiler'
import { ReadLog } from './reads.ts'
import { VerdictLog } from './verdict-log.ts'

export { profiledOptions } from 'fastify-profiler'

type Panels = NonNullable<ProfilerOptions['panels']>

/**
 * Registers the profiler with Portico's own panels and those that an application adds. It must come first: it sees only
 * hooks added after it.
 */
async function debug(app: FastifyInstance, { config, panels }: { config: Config; panels: Panels }) {
  const reads = new ReadLog()
  const verdicts = new VerdictLog()
  const stops = [listenToErrors(), verdicts.listen()]
  app.addHook('onClose', async function stopListening() {
    for (const stop of stops) stop()
  })
  const outside = new AsyncResource('debug')

  await app.register(profiler, {
    directory: join(config.dataDir, 'profiles'),
    allow: config.debugAllow,
    allowLoopback: !config.production,
    isTrustedHost: isLicensed,
    panels: [licensePanel(verdicts, reads), securityPanel(verdicts, () => app.checks), cachePanel(reads), ...panels],
    passThrough: [databaseFolder],
    labels: ['license'],
    editorUrl: config.editorUrl ?? null,
    // The database plugin is registered later.
    explainPool: { connect: () => app.database.pool.connect(), canStop: () => app.database.isShared },
    secrets: config.cookieSecrets,
    settings: settingsOf(config),
    toError,
  })

  function isLicensed(host: string): boolean | Promise<boolean> {
    // Outside the request's async context, or its panels would list this read as the application's.
    const license = outside.runInAsyncScope(() => findLicense(app.entities, host))
    if (!(license instanceof Promise)) return license !== null
    return license.then(
      license => license !== null,
      () => false,
    )
  }

  app.addHook('onReady', async function listenToReads() {
    stops.push(reads.listen(app.entityCache))
    // The landmarks plugin is registered later.
    app.landmarks.set('Profiler', { path: '/_profiler/', needsSite: false })
  })
  app.addHook('onSend', function markStaleRecords(request, reply, _payload, done) {
    const tables = request.recorder === null ? [] : reads.staleTablesOf(request.recorder)
    if (tables.length > 0 && app.profiler.access.judge(request.raw) === 'allowed') {
      reply.header('x-debug-stale', tables.join(', '))
    }
    done()
  })
}

/** Adds stacks to expected errors and records the error of a missing route. @returns a function that unsubscribes */
function listenToErrors(): () => void {
  expectedErrors.subscribe(captureStack)
  missingRoutes.subscribe(recordMissingRoute)
  return () => {
    expectedErrors.unsubscribe(captureStack)
    missingRoutes.unsubscribe(recordMissingRoute)
  }
}

/** Starts the stack at the caller of the error's constructor, as JavaScript does. */
function captureStack(error: unknown): void {
  if (error instanceof Error) Error.captureStackTrace(error, error.constructor)
}

function recordMissingRoute(message: unknown): void {
  if (isMissingRoute(message)) message.request.recorder?.failing(message.error)
}

/** The settings that profiles may show. */
function settingsOf({ port, host, databaseUrl, debugAllow, logLevel, trustProxy, defaultLocale }: Config) {
  return {
    port,
    host,
    database: databaseUrl === undefined ? 'embedded' : 'PostgreSQL',
    debugAllow,
    logLevel,
    trustProxy,
    defaultLocale,
  }
}

export default fp(debug, { name: 'debug', fastify: '5.x' })
