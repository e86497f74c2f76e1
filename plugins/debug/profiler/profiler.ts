import type { IncomingMessage } from 'node:http'
// Imported, because tests replace the global timers.
import { clearTimeout, setTimeout } from 'node:timers'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Boundary } from './base/boundary.ts'
import type { ProfileBounds } from './base/bounds.ts'
import type { Json, Profile, SearchCriteria, SearchResult } from './base/profile.ts'
import { Collector } from './collect/collector.ts'
import { describeConfiguration } from './collect/describe-configuration.ts'
import type { AnyPanel, Panel, ViewContext } from './collect/panel.ts'
import type { KnownSecrets } from './mask/known-secrets.ts'
import { AnswerDiagnostics } from './show/answer-diagnostics.ts'
import { refuseOtherMethods } from './show/other-methods.ts'
import { profilerRoutes } from './show/profiler-routes.ts'
import { makeViewContext } from './show/view-context.ts'
import type { ViewerAccess } from './show/viewer-access.ts'
import { ProfileArchive } from './store/profile-archive.ts'
import type { ProfileStore } from './store/profile-store.ts'
import { ProfileWriter } from './store/profile-writer.ts'
import { watchArrivals } from './watch/arrival.ts'
import { atExit } from './watch/at-exit.ts'
import { Exchanges } from './watch/exchanges.ts'
import { KnownRoutes, pathOptions } from './watch/known-routes.ts'
import { followEarlier } from './watch/late-registration.ts'
import { OpenExchanges } from './watch/open-exchanges.ts'
import { OwnPages } from './watch/own-pages.ts'
import { Patience } from './watch/patience.ts'
import { PluginTree } from './watch/plugin-tree.ts'
import type { Recorder } from './watch/recorder.ts'
import { Recorders } from './watch/recorders.ts'
import { addRequestHooks, followRequestLoggers } from './watch/request-hooks.ts'
import { trace } from './watch/tracer.ts'
import type { WatchedApplication } from './watch/watched-application.ts'

/** The plugin's options with all defaults applied. */
export interface ProfilerParts {
  app: FastifyInstance
  base: string
  store: ProfileStore
  bounds: ProfileBounds
  access: ViewerAccess
  /** The application's panels. */
  ownPanels: ReadonlyArray<Panel<unknown>>
  /** All panels, in the order of the menu. */
  panels: readonly AnyPanel[]
  /** The labels that the search form offers. */
  labels: readonly string[]
  secrets: KnownSecrets | null
  editorUrl: string | null
  root: string
  /** The origin of links to profiles; null for that of the request. */
  linkOrigin: string | null
  /** Milliseconds that a profile waits for queries that outlive the response. */
  patience: number
  toError: (thrown: Error) => Error
  versions: Record<string, string>
  settings: Record<string, Json>
  /** Sentences that every profile starts with. */
  notes: readonly string[]
  complain: (error: unknown, message: string) => void
}

/** Milliseconds that closing waits for work that outlives its response. */
const closingPatience = 1000

/** The profiler of one application. */
export class Profiler {
  readonly access: ViewerAccess
  readonly #parts: ProfilerParts
  readonly #boundary: Boundary
  readonly #application: WatchedApplication
  readonly #collector: Collector
  readonly #open = new OpenExchanges()
  readonly #patience: Patience
  readonly #writer: ProfileWriter
  readonly #archive: ProfileArchive
  readonly #exchanges: Exchanges
  readonly #forgetExit: () => void

  constructor(parts: ProfilerParts) {
    const { access, app, base, bounds, ownPanels, secrets, store, toError } = parts
    const open = this.#open
    const boundary = new Boundary(parts.complain)
    const notes = new Set(parts.notes)
    const ownPages = new OwnPages(base)
    const routes = new KnownRoutes(pathOptions(app))
    const recorders = new Recorders(ownPages, notes, bounds, boundary)
    const application = { ownPages, recorders, routes, plugins: new PluginTree(), notes }
    const collector = new Collector(
      { bounds, secrets, routes, panels: ownPanels, configuration: '', toError },
      boundary,
    )
    const patience = new Patience(parts.patience)
    const writer = new ProfileWriter({ open, collector, store, patience, boundary, bytes: bounds.bytes })
    const editor = new AnswerDiagnostics({ ...parts, collector })
    this.access = access
    this.#parts = parts
    this.#boundary = boundary
    this.#application = application
    this.#collector = collector
    this.#patience = patience
    this.#writer = writer
    this.#archive = new ProfileArchive(open, store)
    this.#exchanges = new Exchanges({
      application,
      boundary,
      open,
      editor,
      ended: exchange => writer.writeWhenDone(exchange),
    })
    // A request that crashes the process is the one whose profile is needed.
    this.#forgetExit = atExit(() => writer.writeOpen())
  }

  /** Adds the profiler's pages and hooks to the application. */
  install(): void {
    const { access, app, base, labels, panels } = this.#parts
    const application = this.#application
    const exchanges = this.#exchanges
    const viewContext = (profile: Profile) => this.viewContext(profile)
    refuseOtherMethods(app, base, access)
    // Viewing profiles adds no lines to the application's log.
    app.register(profilerRoutes, {
      archive: this.#archive,
      access,
      base,
      panels,
      labels,
      viewContext,
      logLevel: 'warn',
    })
    watchArrivals(app, this.#boundary, (raw, response) => {
      exchanges.arrive(raw, response)
    })
    addRequestHooks(app, exchanges, application.recorders)
    followEarlier(app, application)
    followRequestLoggers(app, application.recorders)
    application.plugins.watch(app)
    trace(app, application)
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

  /** Records a request that failed before any hook ran. */
  failEarly(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    this.#exchanges.enter(request, reply)
    // Fastify's request has no decorators here, such as `recorder`.
    this.#application.recorders.record(request, recorder => recorder.failing(error))
  }

  /** Stores the application's configuration. Called once it is ready. */
  configure(): void {
    const { app, versions, settings, store } = this.#parts
    const configuration = describeConfiguration({
      versions: { fastify: app.version, ...versions },
      settings,
      plugins: this.#application.plugins.root,
      routes: this.#application.routes.routes,
    })
    this.#collector.setConfiguration(configuration.key)
    store.writeConfiguration(configuration)
  }

  /** Stores the profiles of open requests as unfinished, and closes the store. */
  async stop(): Promise<void> {
    const deadline = setTimeout(() => this.#patience.end(), closingPatience)
    await this.settled()
    clearTimeout(deadline)
    this.#writer.writeOpen()
    this.#forgetExit()
    this.#parts.store.close()
  }
}
