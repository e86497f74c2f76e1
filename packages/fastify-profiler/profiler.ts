import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
// Imported, because tests replace the global timers.
import { clearTimeout, setTimeout } from 'node:timers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { passThrough } from './core/call-site.ts'
import { Collector } from './core/collect.ts'
import { features, type PageSources, type RunningFeature } from './core/feature.ts'
import type { ViewContext } from './core/panel.ts'
import { whenThere } from './core/foreign-value.ts'
import { Boundary, complainTo, driverBoundary } from './core/guard.ts'
import { markAsWatched, packageVersion } from './core/package-version.ts'
import type { Profile, Unseen } from './core/profile.ts'
import { ProfileArchive } from './core/store/profile-archive.ts'
import { LateWork } from './core/store/late-work.ts'
import { ProfileWriter } from './core/store/profile-writer.ts'
import type { Configuration } from './core/store/store-directory.ts'
import type { ProfileSummary, SearchCriteria, SearchResult } from './core/summary.ts'
import { AnswerDiagnostics } from './core/view/debug-answer.ts'
import { declaringMethods, profilerRoutes, refuseOtherMethods } from './core/view/profiler-routes.ts'
import { makeViewContext } from './core/view/view-context.ts'
import type { ViewerAccess } from './core/view/viewer-access.ts'
import { watchArrivals, whenListening } from './core/watch/arrival.ts'
import { atExit, OpenExchanges, Patience, type WatchedApplication } from './core/watch/exchange.ts'
import { addRequestHooks, Exchanges } from './core/watch/exchanges.ts'
import { KnownRoutes, pathOptions } from './core/watch/known-routes.ts'
import { hideMethods, watchFrameworkErrors } from './core/watch/malformed-urls.ts'
import { ApplicationStart } from './core/watch/application-start.ts'
import { PluginTree } from './core/watch/plugin-tree.ts'
import type { Recorder } from './core/watch/recorder.ts'
import { OwnPages, Recorders } from './core/watch/current-recorder.ts'
import { followEarlier, registerUnnoticed, trace } from './core/watch/tracer.ts'
import './features/index.ts'
import { partsOf, type ProfilerOptions, type ProfilerParts, type Terms } from './options.ts'

/** Milliseconds that closing waits for work that outlives its response. */
const closingPatience = 1000

/** The profiler of one application. */
export class Profiler {
  readonly access: ViewerAccess
  readonly #parts: ProfilerParts
  readonly #start: ApplicationStart
  /** What the features do for this application. */
  readonly #running: readonly RunningFeature[]
  readonly #sources: PageSources
  readonly #boundary: Boundary
  readonly #application: WatchedApplication
  readonly #collector: Collector
  readonly #open = new OpenExchanges()
  readonly #patience: Patience
  readonly #writer: ProfileWriter
  readonly #archive: ProfileArchive
  readonly #exchanges: Exchanges
  readonly #forgetExit: () => void
  #forgetAddress: () => void = () => {}

  constructor(parts: ProfilerParts) {
    const { access, app, base, bounds, ownPanels, secrets, store, toError } = parts
    const open = this.#open
    const boundary = new Boundary(parts.complain)
    const notes = new Set<string>()
    const unseen: Unseen[] = []
    const ownPages = new OwnPages(base)
    const routes = new KnownRoutes(pathOptions(app))
    const recorded = { bounds, propagateTo: parts.propagateTo }
    const recorders = new Recorders(ownPages, notes, recorded, boundary)
    const start = new ApplicationStart({ recorded, pluginTimeout: app.initialConfig.pluginTimeout ?? 0 })
    const application = {
      ownPages,
      recorders,
      routes,
      plugins: new PluginTree(start),
      notes,
      unseen,
    }
    const collector = new Collector(
      { bounds, secrets, routes, panels: ownPanels, unseen, configuration: '', toError },
      boundary,
    )
    const patience = new Patience(parts.patience)
    const archive = new ProfileArchive(open, store)
    const sources = {
      ...parts,
      archive,
      boundary,
      recorders,
      notes,
      unseen,
      start,
      viewContext: (profile: Profile) => this.viewContext(profile),
    }
    const running = features.flatMap(({ start }) => start?.(sources) ?? [])
    const listeners = running.flatMap(({ written }) => written ?? [])
    const entries = features.flatMap(({ entered }) => entered ?? [])
    const written = (summary: ProfileSummary, profile: Profile) => {
      for (const listen of listeners) listen(summary, profile)
    }
    const late = new LateWork({ boundary, collector, recorded, store })
    const { bytes } = bounds
    const writer = new ProfileWriter({
      open,
      collector,
      store,
      patience,
      late,
      boundary,
      bytes,
      written,
    })
    const editor = new AnswerDiagnostics({ ...parts, collector })
    this.access = access
    this.#start = start
    this.#running = running
    this.#sources = sources
    this.#parts = parts
    this.#boundary = boundary
    this.#application = application
    this.#collector = collector
    this.#patience = patience
    this.#writer = writer
    this.#archive = archive
    this.#exchanges = new Exchanges({
      bounds,
      application,
      boundary,
      open,
      editor,
      isViewer: raw =>
        whenThere(
          access.judge(raw),
          verdict => verdict === 'allowed',
          () => false,
        ) === true,
      entered: request => {
        for (const entered of entries) entered(request)
      },
      ended: exchange => writer.writeWhenDone(exchange),
    })
    // A request that crashes the process is the one whose profile is needed.
    this.#forgetExit = atExit(() => {
      writer.writeOpen()
      this.#stopFeatures()
      this.#forgetAddress()
    })
  }

  /** Adds the profiler's pages and hooks to the application. */
  install(): void {
    const { access, app, base } = this.#parts
    const application = this.#application
    const exchanges = this.#exchanges
    // Viewing profiles adds no lines to the application's log.
    const logLevel = 'warn'
    const methods = declaringMethods(app)
    hideMethods(app, application)
    registerUnnoticed(app, application, () => {
      refuseOtherMethods(app, base, access)
      app.register(profilerRoutes, { ...this.#sources, access, logLevel, methods })
    })
    // For the command line, which runs on the same machine.
    whenListening(app, (origin, socket) => {
      if (socket === null) this.#forgetAddress = this.#parts.store.writeAddress(`${origin}${base}/`)
    })
    watchArrivals(app, this.#boundary, (raw, response) => {
      exchanges.arrive(raw, response)
    })
    watchFrameworkErrors(app, {
      failEarly: (error, request, reply) => this.#failEarly(error, request, reply),
      rejectArrived: () => exchanges.rejectArrived(),
    })
    addRequestHooks(app, exchanges, application.recorders)
    followEarlier(app, application)
    application.plugins.watch(app)
    trace(app, application)
    this.#start.own = performance.now() - this.#start.began
  }

  /** The URL of the list of profiles, for an application with this origin. */
  home(origin: string): string {
    return `${this.#parts.linkOrigin ?? origin}${this.#parts.base}/`
  }

  /** The number of requests that have no profile yet. */
  get pending(): number {
    return this.#open.count
  }

  /** Resolves when the profiles of all answered requests are stored. */
  settled(): Promise<void> {
    return this.#archive.settled()
  }

  /** Finds a profile by its token, or the newest by "latest". */
  find(token: string): Promise<Profile | null> {
    return this.#archive.find(token)
  }

  /** Searches the profiles, newest first. */
  search(criteria: SearchCriteria): Promise<SearchResult> {
    return this.#archive.search(criteria)
  }

  viewContext(profile: Profile): ViewContext {
    return makeViewContext(profile, this.#parts)
  }

  /** The recorder of a request; undefined for the profiler's own pages. */
  recorderOf(raw: IncomingMessage): Recorder | undefined {
    return this.#application.recorders.of(raw)
  }

  /** Resolves when the features are prepared for the application. */
  async prepared(): Promise<void> {
    await Promise.all(this.#running.flatMap(({ prepared }) => prepared ?? []))
  }

  /**
   * Stores the application's configuration, and opens the store. Called once the application is ready.
   * @param since when the application began to wait for that, by `performance.now()`
   */
  configure(since: number): void {
    const { store } = this.#parts
    const configuration = this.#describeConfiguration()
    this.#collector.setConfiguration(configuration.key)
    store.writeConfiguration(configuration)
    store.open()
    for (const { ready } of this.#running) ready?.(configuration.key)
    this.#application.plugins.end()
    this.#start.own += performance.now() - since
    this.#start.runHooks()
  }

  /** Stores the profiles of open requests as unfinished, and leaves the store. */
  async stop(): Promise<void> {
    this.#forgetAddress()
    const deadline = setTimeout(() => this.#patience.end(), closingPatience)
    await this.settled()
    clearTimeout(deadline)
    this.#writer.writeOpen()
    this.#forgetExit()
    this.#stopFeatures()
    this.#parts.leaveStore()
  }

  /** The key starts with the time, so that the newest one is last when sorted by key. */
  #describeConfiguration(): Configuration {
    for (const { complete } of this.#application.routes.all) complete()
    const content = {
      versions: { node: process.version.slice(1), ...this.#parts.versions },
      environment: process.env.NODE_ENV ?? null,
      settings: this.#parts.settings,
      plugins: this.#application.plugins.root,
      routes: this.#application.routes.all.map(({ route }) => route),
    }
    const digest = createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 12)
    return { key: `${Date.now().toString(36)}-${digest}`, ...content }
  }

  #stopFeatures(): void {
    for (const { stop } of this.#running) this.#boundary.guard(() => stop?.(), undefined)
    this.#start.stop()
  }

  /** Records a request that failed before any hook ran. */
  #failEarly(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    this.#exchanges.enter(request, reply)
    // Fastify's request has no decorators here, such as `recorder`.
    this.#application.recorders.record(request, recorder => recorder.failing(error))
  }
}

/** Milliseconds that the start waits for features, such as for drivers, whose loading takes long on a busy machine. */
const preparingPatience = 2000

let isSubscribed = false

/** Subscribes all features, for all profilers of the process. */
function subscribeOnce(): void {
  if (isSubscribed) return
  isSubscribed = true
  for (const { subscribe } of features) driverBoundary.guard(() => subscribe?.(), undefined)
}

/** Makes a profiler watch an application that none watches yet. It sees what is registered from now on. */
export function install(app: FastifyInstance, options: ProfilerOptions, terms: Terms): Profiler {
  passThrough(options.passThrough ?? [])
  const parts = partsOf(app, options, terms)
  complainTo(parts.complain)
  subscribeOnce()
  const profiler = new Profiler(parts)
  markAsWatched(app, { version: packageVersion, profiler })
  // Fastify gives a hook up after pluginTimeout, and the application shall not fail because of the profiler.
  const patience = Math.min(preparingPatience, (app.initialConfig.pluginTimeout ?? 0) / 4 || preparingPatience)
  // Before the profiler watches hooks, so that its own is none of the application's.
  app.addHook('onReady', async function storeConfiguration() {
    const began = performance.now()
    await Promise.race([profiler.prepared(), sleep(patience, undefined, { ref: false })])
    profiler.configure(began)
  })
  profiler.install()
  app.addHook('onClose', async function stopProfiler() {
    await profiler.stop()
  })
  return profiler
}
