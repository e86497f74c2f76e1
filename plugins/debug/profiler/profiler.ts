import type { IncomingMessage } from 'node:http'
// Not the globals: tests replace those by a clock that stands still.
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

/** What a profiler is made of; every option of the plugin has its value here. */
export interface ProfilerParts {
  app: FastifyInstance
  base: string
  store: ProfileStore
  bounds: ProfileBounds
  access: ViewerAccess
  /** The application's, and all there are in the order of the menu. */
  ownPanels: ReadonlyArray<Panel<unknown>>
  panels: readonly AnyPanel[]
  /** Names of the labels one can search by. */
  labels: readonly string[]
  secrets: KnownSecrets | null
  editorUrl: string | null
  root: string
  /** Origin of the links to profiles; null: that of the request. */
  linkOrigin: string | null
  /** Milliseconds a profile waits for queries that outlive the answer. */
  patience: number
  toError: (thrown: Error) => Error
  versions: Record<string, string>
  settings: Record<string, Json>
  /** Sentences that every profile starts with. */
  notes: readonly string[]
  complain: (error: unknown, message: string) => void
}

/** Milliseconds that closing waits at most for work that outlives its answer. */
const closingPatience = 1000

/** Joins watching, collecting, storing and showing for one application. */
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
    // The request that ends a process is the one that somebody looks for.
    this.#forgetExit = atExit(() => writer.writeOpen())
  }

  /** Adds the profiler's pages and watchers to its application: nothing that is registered before is seen whole. */
  install(): void {
    const { access, app, base, labels, panels } = this.#parts
    const application = this.#application
    const exchanges = this.#exchanges
    const viewContext = (profile: Profile) => this.viewContext(profile)
    refuseOtherMethods(app, base, access)
    // Whoever looks at profiles writes no lines into the application's log.
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

  /** How many requests have no profile yet. */
  get pending(): number {
    return this.#open.count
  }

  /** Resolves when every request that has been answered has its profile, on disk where there is one. */
  settled(): Promise<void> {
    return this.#archive.settled()
  }

  /** The profile of a token; "latest" is the newest. */
  find(token: string): Promise<Profile | null> {
    return this.#archive.find(token)
  }

  /** The profiles there are that match, the newest first. */
  search(criteria: SearchCriteria): Promise<SearchResult> {
    return this.#archive.search(criteria)
  }

  /** What a view of this profile needs. */
  viewContext(profile: Profile): ViewContext {
    return makeViewContext(profile, this.#parts)
  }

  /** The recorder of a request; undefined for the profiler's own pages. */
  recorderOf(raw: IncomingMessage): Recorder | undefined {
    return this.#application.recorders.of(raw)
  }

  /** A request failed before any hook ran. */
  failEarly(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    this.#exchanges.enter(request, reply)
    // The request is Fastify's barest: it has no decorators.
    this.#application.recorders.record(request, recorder => recorder.failing(error))
  }

  /** Describes the application as it stands now that it is ready. */
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

  /** Stores what is still open, as unfinished, and stops. */
  async stop(): Promise<void> {
    const deadline = setTimeout(() => this.#patience.end(), closingPatience)
    await this.settled()
    clearTimeout(deadline)
    this.#writer.writeOpen()
    this.#forgetExit()
    this.#parts.store.close()
  }
}
