import type { ProfilerParts } from './options.ts'
import type { IncomingMessage } from 'node:http'
// Imported, because tests replace the global timers.
import { clearTimeout, setTimeout } from 'node:timers'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Boot } from './base/boot.ts'
import { Boundary } from './base/boundary.ts'
import { BootLog } from './boot-log.ts'
import type { Profile } from './base/profile.ts'
import type { ProfileSummary, SearchCriteria, SearchResult } from './base/summary.ts'
import { whenThere } from './base/promised.ts'
import { Collector } from './collect/collector.ts'
import { describeBrowserEvents } from './collect/describe-browser-events.ts'
import { describeConfiguration } from './collect/describe-configuration.ts'
import type { ViewContext } from './collect/panel.ts'
import { SimilarRoutes } from './collect/similar-routes.ts'
import { sampleIfAsked } from './watch/sampling.ts'
import { mcpRoutes } from './mcp/mcp-routes.ts'
import { replay } from './replay/replay.ts'
import { addApplication, applicationOf } from './replay/running-applications.ts'
import { AnswerDiagnostics } from './show/answer-diagnostics.ts'
import { refuseOtherMethods } from './show/other-methods.ts'
import { LiveRows } from './show/live-rows.ts'
import { RouteAdvice } from './show/route-advice.ts'
import { profilerRoutes } from './show/profiler-routes.ts'
import { makeViewContext } from './show/view-context.ts'
import type { ViewerAccess } from './show/viewer-access.ts'
import { ProfileArchive } from './store/profile-archive.ts'
import { ProfileWriter } from './store/profile-writer.ts'
import { watchArrivals } from './watch/arrival.ts'
import { atExit } from './watch/at-exit.ts'
import { Exchanges } from './watch/exchanges.ts'
import { watchFrameworkErrors } from './watch/framework-errors.ts'
import { KnownRoutes } from './watch/known-routes.ts'
import { followEarlier } from './watch/late-registration.ts'
import { whenListening } from './watch/listening.ts'
import { hideMethods } from './watch/malformed-urls.ts'
import { OpenExchanges } from './watch/open-exchanges.ts'
import { registerUnnoticed } from './watch/own-contexts.ts'
import { OwnPages } from './watch/own-pages.ts'
import { longestParameter, pathOptions } from './watch/path-options.ts'
import { Patience } from './watch/patience.ts'
import { PluginTree } from './watch/plugin-tree.ts'
import type { Recorder } from './watch/recorder.ts'
import { Recorders } from './watch/recorders.ts'
import { addRequestHooks } from './watch/request-hooks.ts'
import { followRequestLoggers, loggerNote } from './watch/request-loggers.ts'
import { trace } from './watch/tracer.ts'
import type { WatchedApplication } from './watch/watched-application.ts'

/** Milliseconds that closing waits for work that outlives its response. */
const closingPatience = 1000

/** The profiler of one application. */
export class Profiler {
  readonly access: ViewerAccess
  readonly #parts: ProfilerParts
  readonly #boot: BootLog
  readonly #boundary: Boundary
  readonly #application: WatchedApplication
  readonly #collector: Collector
  readonly #live: LiveRows
  readonly #open = new OpenExchanges()
  readonly #patience: Patience
  readonly #writer: ProfileWriter
  readonly #archive: ProfileArchive
  readonly #exchanges: Exchanges
  readonly #forgetExit: () => void
  #forgetApplication: () => void = () => {}
  #forgetAddress: () => void = () => {}

  constructor(parts: ProfilerParts) {
    const { access, app, base, bounds, ownPanels, secrets, store, toError } = parts
    const open = this.#open
    const boundary = new Boundary(parts.complain)
    const notes = new Set<string>()
    const ownPages = new OwnPages(base)
    const routes = new KnownRoutes()
    const paths = pathOptions(app)
    const similar = new SimilarRoutes(routes, paths)
    const recorded = { bounds, propagateTo: parts.propagateTo }
    const recorders = new Recorders(ownPages, notes, recorded, boundary)
    const boot = new BootLog({
      ...parts,
      versions: versionsOf(parts),
      recorded,
      boundary,
      pluginTimeout: app.initialConfig.pluginTimeout ?? 0,
    })
    const application = {
      ownPages,
      recorders,
      routes,
      plugins: new PluginTree(boot.start),
      notes,
      longestParameter: longestParameter(paths),
    }
    const collector = new Collector(
      { bounds, secrets, routes, similar, panels: ownPanels, configuration: '', toError },
      boundary,
    )
    const patience = new Patience(parts.patience)
    const live = new LiveRows(boundary)
    const advice = parts.advise === null ? null : new RouteAdvice(parts.advise, parts.root)
    const written = (summary: ProfileSummary, profile: Profile) => {
      live.add(summary)
      advice?.consider(profile)
    }
    const writer = new ProfileWriter({ open, collector, store, patience, boundary, bytes: bounds.bytes, written })
    const editor = new AnswerDiagnostics({ ...parts, collector })
    this.access = access
    this.#boot = boot
    this.#parts = parts
    this.#boundary = boundary
    this.#application = application
    this.#collector = collector
    this.#live = live
    this.#patience = patience
    this.#writer = writer
    this.#archive = new ProfileArchive(open, store)
    this.#exchanges = new Exchanges({
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
      entered: sampleIfAsked,
      ended: exchange => writer.writeWhenDone(exchange),
    })
    // A request that crashes the process is the one whose profile is needed.
    this.#forgetExit = atExit(() => {
      writer.writeOpen()
      boot.stop()
      this.#forgetAddress()
    })
  }

  /** Adds the profiler's pages and hooks to the application. */
  install(): void {
    const { access, app, base, bounds, editorUrl, explainPool, labels, panels, root, secrets } = this.#parts
    const application = this.#application
    const exchanges = this.#exchanges
    const viewContext = (profile: Profile) => this.viewContext(profile)
    // Viewing profiles adds no lines to the application's log.
    const logLevel = 'warn'
    const asked = { archive: this.#archive, access, base, explainPool, panels, labels, viewContext, root }
    hideMethods(app, application)
    registerUnnoticed(app, application, () => {
      refuseOtherMethods(app, base, access)
      app.register(profilerRoutes, {
        ...asked,
        live: this.#live,
        newestBoot: () => this.boot,
        replay: profile => replay(applicationOf(profile) ?? app, profile),
        editorUrl,
        readReport: report => describeBrowserEvents(report, bounds, secrets),
        logLevel,
      })
      app.register(mcpRoutes, { ...asked, logLevel })
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
    followRequestLoggers(app, application.recorders)
    const note = loggerNote(app)
    if (note !== null) application.notes.add(note)
    followEarlier(app, application)
    application.plugins.watch(app)
    trace(app, application)
  }

  /** The URL of the list of profiles, for an application with this origin. */
  home(origin: string): string {
    return `${this.#parts.linkOrigin ?? origin}${this.#parts.base}/`
  }

  /** The newest start of the applications that share the directory; null if it is not stored any more. */
  get boot(): Boot | null {
    return this.#boot.newest
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

  /** Stores the application's configuration, and opens the store. Called once the application is ready. */
  configure(): void {
    const { app, settings, store } = this.#parts
    const configuration = describeConfiguration({
      versions: versionsOf(this.#parts),
      settings,
      plugins: this.#application.plugins.root,
      routes: this.#application.routes.all.map(({ route }) => route),
    })
    this.#collector.setConfiguration(configuration.key)
    store.writeConfiguration(configuration)
    store.open()
    this.#forgetApplication = addApplication(configuration.key, app)
    this.#boot.start.runHooks()
  }

  /** Stores the profiles of open requests as unfinished, and leaves the store. */
  async stop(): Promise<void> {
    this.#forgetApplication()
    this.#forgetAddress()
    const deadline = setTimeout(() => this.#patience.end(), closingPatience)
    await this.settled()
    clearTimeout(deadline)
    this.#writer.writeOpen()
    this.#forgetExit()
    this.#boot.stop()
    this.#parts.leaveStore()
  }

  /** Records a request that failed before any hook ran. */
  #failEarly(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    this.#exchanges.enter(request, reply)
    // Fastify's request has no decorators here, such as `recorder`.
    this.#application.recorders.record(request, recorder => recorder.failing(error))
  }
}

function versionsOf({ app, versions }: ProfilerParts): Record<string, string> {
  return { fastify: app.version, ...versions }
}
