import { EventEmitter } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
// Not the globals: tests replace those by a clock that stands still.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ViewerAccess } from './show/viewer-access.ts'
import { watchAnswer } from './watch/answer.ts'
import { atExit } from './watch/at-exit.ts'
import { Attachment } from './watch/attachment.ts'
import { Boundary } from './base/boundary.ts'
import type { ProfileBounds } from './base/bounds.ts'
import { collect, collectBare, protocolOf, type CollectionParts } from './collect/collect.ts'
import { pathOfUrl } from './base/request-path.ts'
import type { Exchange } from './watch/exchange.ts'
import { describeConfiguration } from './collect/describe-configuration.ts'
import { currentRecorder } from './watch/current-recorder.ts'
import { diagnose, diagnosticBody, type Diagnosis } from './show/debug-answer.ts'
import { isError, nameOfError } from './base/foreign-value.ts'
import { hideFrames } from './base/hidden-frames.ts'
import type { KnownSecrets } from './mask/known-secrets.ts'
import { traceEarlierRoute } from './watch/late-registration.ts'
import { OpenExchanges } from './watch/open-exchanges.ts'
import type { AnyPanel, Panel, ViewContext } from './collect/panel.ts'
import { PluginTree } from './watch/plugin-tree.ts'
import type { Configuration, Json, Profile, SearchCriteria, SearchResult, Span } from './base/profile.ts'
import type { ProfileStore } from './store/profile-store.ts'
import { serialise, summarise } from './store/profile-text.ts'
import { reachableHost } from './show/reachable-host.ts'
import { watchBody } from './watch/received.ts'
import { Recorder } from './watch/recorder.ts'
import { pathOptions, KnownRoutes } from './watch/known-routes.ts'
import { resolveSources } from './show/source-excerpt.ts'
import { permitToolbar } from './show/parts/toolbar-policy.ts'
import { watchUpgrade } from './watch/upgrade.ts'

hideFrames(import.meta.filename)

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
  /** Sentences that belong into every profile. */
  notes: readonly string[]
  complain: (error: unknown, message: string) => void
}

/** Milliseconds that closing waits at most for what outlives its answer. */
const closingPatience = 1000

/** Follows every request from its arrival to its stored profile. */
export class Profiler {
  readonly routes: KnownRoutes
  /** Sentences that belong into every profile. */
  readonly notes: Set<string>
  readonly plugins = new PluginTree()
  readonly access: ViewerAccess
  readonly #parts: ProfilerParts
  readonly #recorders = new Attachment<Recorder>()
  readonly #exchanges = new Attachment<Exchange>()
  readonly #connections = new WeakMap<EventEmitter, Exchange[]>()
  readonly #open = new OpenExchanges()
  /** What ends the waiting of each profile that has something under way past its answer. */
  readonly #waiting = new Set<() => void>()
  /** Requests of the profiler's own pages whose URLs do not look like it. */
  readonly #disguised = new WeakSet<IncomingMessage>()
  /** Requests that the profiler failed to watch. */
  readonly #unwatched = new WeakSet<IncomingMessage>()
  readonly #boundary: Boundary
  #configuration: Configuration | null = null
  #configurationKey = ''
  /** Milliseconds the text of the profile before took: what a profile itself costs to be stored is known too late to be in it. */
  #textCost = 0

  readonly #takeBack: () => void

  constructor(parts: ProfilerParts) {
    this.#parts = parts
    this.access = parts.access
    this.notes = new Set(parts.notes)
    this.routes = new KnownRoutes(pathOptions(parts.app))
    this.#boundary = new Boundary(parts.complain)
    // The request that ends a process is the one that somebody looks for.
    this.#takeBack = atExit(() => this.#finishOpen())
  }

  /** How many requests have no profile yet. */
  get pending(): number {
    return this.#open.count
  }

  /** Resolves when every request that has been answered has its profile, on disk where there is one. */
  async settled(): Promise<void> {
    await Promise.all(this.#open.list().map(({ stored }) => stored))
    this.#parts.store.flush()
  }

  /** The profile of a token; "latest" is the newest. */
  async find(token: string): Promise<Profile | null> {
    await (token === 'latest'
      ? this.settled()
      : this.#open.list().find(({ recorder }) => recorder.token === token)?.stored)
    return this.#parts.store.find(token)
  }

  /** Whether the answer to a request is not out yet. */
  isRunning(token: string): boolean {
    return this.#open.list().some(({ recorder }) => recorder.token === token && recorder.ended === null)
  }

  /** The profiles there are that match, the newest first. */
  async search(criteria: SearchCriteria): Promise<SearchResult> {
    await Promise.all(this.#open.list().map(({ due }) => due))
    return this.#parts.store.search(criteria)
  }

  /** What a view of this profile needs. */
  viewContext(profile: Profile): ViewContext {
    const { base, editorUrl, root, store } = this.#parts
    const configuration =
      this.#configuration?.key === profile.configuration
        ? this.#configuration
        : store.findConfiguration(profile.configuration)
    return { profile: resolveSources(profile), configuration, base, editorUrl, root }
  }

  /** The recorder of a request, made at its first mention; none for the profiler's own pages, and where that fails. */
  recorderOf(raw: IncomingMessage): Recorder | undefined {
    try {
      const known = this.#recorders.get(raw)
      if (known !== undefined || this.isOwnPage(raw) || this.#unwatched.has(raw)) return known
      const recorder = new Recorder(raw, currentRecorder()?.token ?? null, this.#parts.bounds)
      for (const note of this.notes) recorder.note(note)
      this.#recorders.set(raw, recorder)
      return recorder
    } catch (error) {
      this.#giveUp(raw, error)
      return undefined
    }
  }

  /** Whether a URL or a route's pattern is of the profiler's own pages. */
  isOwn(url: string): boolean {
    const { base } = this.#parts
    return url.startsWith(base) && (url.length === base.length || url[base.length] === '/' || url[base.length] === '?')
  }

  /** Whether a request is for a page of the profiler's. */
  isOwnPage(raw: IncomingMessage): boolean {
    return this.#disguised.has(raw) || this.isOwn(pathOfUrl(String(raw.url)))
  }

  /** Has something recorded of a request, unless that fails: the request goes on, and its profile says so. */
  record(request: Pick<FastifyRequest, 'raw'>, call: (recorder: Recorder) => void): void {
    this.#boundary.guard(() => {
      const recorder = this.recorderOf(request.raw)
      if (recorder !== undefined) this.guard(recorder, () => call(recorder), undefined)
    }, undefined)
  }

  /** The same for what answers something: what stands for it where it fails. */
  guard<Result>(recorder: Recorder, call: () => Result, otherwise: Result): Result {
    try {
      return call()
    } catch (error) {
      this.#boundary.tell(error)
      recorder.note(`The profiler could not record all of this request (${kindOf(error)}). The log says why.`)
      return otherwise
    }
  }

  /** A request is there, and its response to be watched; being told twice changes nothing. */
  arrive(raw: IncomingMessage, response: ServerResponse): Exchange | null {
    try {
      return this.#exchanges.get(raw) ?? this.#watch(raw, response)
    } catch (error) {
      this.#giveUp(raw, error)
      return null
    }
  }

  #watch(raw: IncomingMessage, response: ServerResponse): Exchange | null {
    const before = performance.now()
    const recorder = this.recorderOf(raw)
    if (recorder === undefined) return null
    /** What the profiler does to the answer of a request that is still its business. */
    const answering = <Result>(call: () => Result): Result | null =>
      this.#isForgotten(raw) ? null : recorder.aside(() => this.guard<Result | null>(recorder, call, null))
    const answer = watchAnswer(response, {
      guard: call => this.guard(recorder, call, undefined),
      failed: error => recorder.exception(error),
      beforeHead: () => {
        answering(() => this.#addHeaders(exchange))
      },
      replacement: () =>
        answering(() => {
          const diagnosis = diagnose(exchange, response)
          if (diagnosis === null || this.access.judge(raw) !== 'allowed') return null
          return body => answering(() => this.#replace(exchange, diagnosis, body))
        }),
    })
    const exchange: Exchange = {
      recorder,
      raw,
      response,
      answer,
      received: watchBody(raw),
      upgrade: watchUpgrade(raw, response),
      request: null,
      reply: null,
      hijacked: false,
      finished: false,
      place: null,
      due: null,
      stored: null,
    }
    response.once('finish', () => {
      exchange.finished = true
    })
    response.once('close', () => this.#close(exchange))
    this.#connectionOf(raw)?.push(exchange)
    this.#exchanges.set(raw, exchange)
    this.#open.add(exchange)
    recorder.ownTime += performance.now() - before
    return exchange
  }

  /** Fastify has made its request and reply, and found the pattern of the route unless there is none. */
  enter(request: FastifyRequest, reply: FastifyReply): void {
    this.#boundary.guard(() => {
      const exchange = this.arrive(request.raw, reply.raw)
      if (exchange === null || exchange.request !== null) return
      this.guard(exchange.recorder, () => this.#enter(exchange, request, reply), undefined)
    }, undefined)
  }

  #enter(exchange: Exchange, request: FastifyRequest, reply: FastifyReply): void {
    exchange.request = request
    const { url: pattern, config } = request.routeOptions
    // A router reads "/%5fprofiler" as it reads "/_profiler", and may be told to overlook case and slashes.
    if (pattern !== undefined && this.isOwn(pattern)) return this.#disown(exchange)
    if (pattern !== undefined && this.routes.find(config) === null) traceEarlierRoute(request, this)
    exchange.reply = reply
    const { hijack, send, then } = reply
    const { recorder } = exchange
    // Named before they are assigned: V8 makes a function that is assigned to a property where it is written in its
    // old space, and all that the function refers to stays in memory until a full garbage collection.
    const watchedHijack = function (this: FastifyReply): FastifyReply {
      exchange.hijacked = true
      return hijack.call(this)
    }
    // One function and no more: V8 keeps ten frames of a stack, and of a hook that fails this is one.
    const watchedSend = function (this: FastifyReply, payload?: unknown): FastifyReply {
      const sending = recorder.sends()
      const sent = send.call(this, payload)
      if (sending !== null) recorder.sent(sending)
      return sent
    }
    // Called for whoever returns the reply, or awaits it.
    const watchedThen = function (this: FastifyReply, fulfilled: () => void, rejected: (error: Error) => void): void {
      recorder.waits()
      then.call(
        this,
        () => {
          recorder.goesOn()
          fulfilled()
        },
        rejected,
      )
    }
    reply.hijack = watchedHijack
    reply.send = watchedSend
    reply.then = watchedThen
  }

  /** Describes the application as it stands now that it is ready. */
  configure(): void {
    const { app, versions, settings, store } = this.#parts
    this.#configuration = describeConfiguration({
      versions: { fastify: app.version, ...versions },
      settings,
      plugins: this.plugins.root,
      routes: this.routes.routes,
    })
    this.#configurationKey = this.#configuration.key
    store.writeConfiguration(this.#configuration)
  }

  /**
   * Makes an error page for nobody: the first one costs several times as much as any other, and is the one that
   * somebody waits for.
   */
  warmUp(): void {
    const raw = new IncomingMessage(new Socket())
    const response = new ServerResponse(raw)
    const { bounds, secrets, base, panels } = this.#parts
    for (let time = 0; time < 3; time++) {
      const recorder = new Recorder(raw, null, bounds)
      recorder.fail(new Error('nothing', { cause: new Error('nothing') }), null)
      const answer = { status: null, bytes: 0, streamed: false, brokenOff: false }
      const exchange = {
        recorder,
        raw,
        response,
        answer,
        received: null,
        upgrade: null,
        request: null,
        reply: null,
        hijacked: false,
        finished: true,
        place: null,
        due: null,
        stored: null,
      }
      // Without the application's panels: they need not know of it.
      const profile = collect(exchange, {
        bounds,
        secrets,
        routes: this.routes,
        panels: [],
        configuration: this.#configurationKey,
        toError: this.#parts.toError,
      })
      diagnosticBody('error-page', response, Buffer.alloc(0), this.viewContext(profile), panels, base)
    }
  }

  /** Stores what is still open, as unfinished, and stops. */
  async stop(): Promise<void> {
    const deadline = setTimeout(() => {
      for (const end of this.#waiting) end()
    }, closingPatience)
    await this.settled()
    clearTimeout(deadline)
    this.#finishOpen()
    this.#takeBack()
    this.#parts.store.close()
  }

  #finishOpen(): void {
    for (const exchange of this.#open.list()) this.#boundary.guard(() => this.#finish(exchange), undefined)
    this.#boundary.guard(() => this.#parts.store.flush(), undefined)
  }

  /** Forgets a request that is one of the profiler's own after all. */
  #disown(exchange: Exchange): void {
    this.#disguised.add(exchange.raw)
    this.#recorders.delete(exchange.raw)
    this.#open.remove(exchange)
  }

  /** Lets a request go on unprofiled: it does not even let itself be watched. */
  #giveUp(raw: IncomingMessage, error: unknown): void {
    this.#boundary.tell(error)
    this.#boundary.guard(() => {
      this.#unwatched.add(raw)
      this.#recorders.delete(raw)
    }, undefined)
  }

  #isForgotten(raw: IncomingMessage): boolean {
    return this.#disguised.has(raw) || this.#unwatched.has(raw)
  }

  #addHeaders(exchange: Exchange): void {
    const { recorder, response } = exchange
    // A browser gives the page that it has kept, and its toolbar, the policy of the answer that says it is unchanged.
    if (response.statusCode === 304) permitToolbar(response)
    response.setHeader('x-debug-token', recorder.token)
    response.setHeader('x-debug-token-link', this.#linkOf(exchange))
    const robots = linesOf(response, 'x-robots-tag')
    if (robots === null) response.setHeader('x-robots-tag', 'noindex')
    else if (!robots.some(isForNoIndex)) response.setHeader('x-robots-tag', [...robots, 'noindex'])
    const timing = serverTiming(recorder)
    const timings = linesOf(response, 'server-timing')
    response.setHeader('server-timing', timings === null ? timing : [timing, ...timings])
  }

  #linkOf(exchange: Exchange): string {
    const { linkOrigin, base } = this.#parts
    const origin = linkOrigin ?? `${protocolOf(exchange)}://${reachableHost(exchange)}`
    return `${origin}${base}/${exchange.recorder.token}`
  }

  #replace(exchange: Exchange, diagnosis: Diagnosis, body: Buffer): Buffer | null {
    const profile = this.#collect(exchange)
    profile.status = exchange.response.statusCode
    profile.outcome = 'completed'
    const context = this.viewContext(profile)
    return diagnosticBody(diagnosis, exchange.response, body, context, this.#parts.panels, this.#linkOf(exchange))
  }

  #collect(exchange: Exchange): Profile {
    return this.#orElseBare(exchange, () => collect(exchange, this.#collectionParts()))
  }

  #collectionParts(): CollectionParts {
    const { bounds, secrets, ownPanels, toError } = this.#parts
    return { bounds, secrets, routes: this.routes, panels: ownPanels, configuration: this.#configurationKey, toError }
  }

  /** What a request carries may be such that nothing can be made of it: that it was there is never lost. */
  #orElseBare(exchange: Exchange, make: () => Profile): Profile {
    try {
      return make()
    } catch (error) {
      this.#boundary.tell(error)
      return collectBare(exchange, this.#collectionParts(), kindOf(error))
    }
  }

  /**
   * The open exchanges of a connection: a response that waits behind another one is not told when the client leaves.
   * Null for a request that somebody made without one.
   */
  #connectionOf({ socket }: IncomingMessage): Exchange[] | null {
    if (!(socket instanceof EventEmitter)) return null
    const known = this.#connections.get(socket)
    if (known !== undefined) return known
    const exchanges: Exchange[] = []
    this.#connections.set(socket, exchanges)
    socket.once('close', () => {
      for (const exchange of [...exchanges]) this.#close(exchange)
    })
    return exchanges
  }

  #close(exchange: Exchange): void {
    const { recorder, raw } = exchange
    const siblings = this.#connectionOf(raw) ?? []
    const place = siblings.indexOf(exchange)
    if (place !== -1) siblings.splice(place, 1)
    // Told by the response and by the connection, or none of its requests any more.
    if (recorder.ended !== null || !this.#open.has(exchange)) return
    recorder.ended = recorder.now()
    exchange.stored = new Promise(resolve => {
      const finish = () => {
        this.#boundary.guard(() => this.#finish(exchange), undefined)
        resolve()
      }
      exchange.due = new Promise(resolve => {
        // Response hooks run when the answer is out, which is just now.
        setImmediate(() => {
          if (exchange.finished) recorder.awaitWork()
          if (recorder.underWay === 0) finish()
          else this.#wait(recorder, finish)
          resolve()
        })
      })
    })
  }

  /** Calls back when nothing is under way any more, or when patience is at its end. */
  #wait(recorder: Recorder, callback: () => void): void {
    const end = () => {
      clearTimeout(deadline)
      this.#waiting.delete(end)
      callback()
    }
    const deadline = setTimeout(end, this.#parts.patience)
    this.#waiting.add(end)
    const lookAgain = () => (recorder.underWay > 0 ? onceIdle() : end())
    // One response hook ends before the next begins.
    const onceIdle = () =>
      recorder.whenIdle(() => {
        setImmediate(lookAgain)
      })
    onceIdle()
  }

  #finish(exchange: Exchange): void {
    if (!this.#open.remove(exchange)) return
    exchange.recorder.finish()
    const { store, bounds } = this.#parts
    let text = ''
    const write = (profile: Profile) => {
      profile.cost.store = Math.round((this.#textCost + store.writingCost) * 1000)
      const before = performance.now()
      text = serialise(profile, bounds.bytes)
      this.#textCost = performance.now() - before
      return profile
    }
    const profile = this.#orElseBare(exchange, () => write(collect(exchange, this.#collectionParts())))
    if (text === '') write(profile)
    store.write(summarise(profile), text)
  }
}

/** What kind of thing was thrown, in a word. */
function kindOf(error: unknown): string {
  return isError(error) ? nameOfError(error) : typeof error
}

/** What the application has said under a header's name; null: nothing. */
function linesOf(response: ServerResponse, name: string): string[] | null {
  const value = response.getHeader(name)
  return value === undefined ? null : [value].flat().map(String)
}

/** Whether a line of X-Robots-Tag tells every robot to keep out of its index. */
function isForNoIndex(line: string): boolean {
  return !/^\s*[\w-]+\s*:/.test(line) && /(?:^|,)\s*(?:noindex|none)\s*(?:,|$)/i.test(line)
}

/** The token, and how long it took so far, in all and by dispatch point: what a browser tells its scripts of an answer. */
function serverTiming(recorder: Recorder): string {
  const sums = new Map<string, number>()
  for (const span of recorder.spans) {
    const name = timingName(span)
    const parent = span.parent === null ? undefined : recorder.spans[span.parent]
    // It is in the time of its parent.
    if (parent !== undefined && timingName(parent) === name) continue
    sums.set(name, (sums.get(name) ?? 0) + span.duration)
  }
  const parts = [`token;desc="${recorder.token}"`, `total;dur=${hundredths(recorder.now())}`]
  for (const [name, sum] of sums) parts.push(`${name};dur=${hundredths(sum)}`)
  return parts.join(', ')
}

function timingName({ dispatchPoint, kind }: Span): string {
  return dispatchPoint ?? (kind === 'hook' ? 'other' : kind)
}

function hundredths(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}
