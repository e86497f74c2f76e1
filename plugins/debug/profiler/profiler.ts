import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requestHost, type Access } from './access.ts'
import { watchAnswer } from './answer.ts'
import { atExit } from './at-exit.ts'
import { Attachment } from './attachment.ts'
import type { ProfileBounds } from './bounds.ts'
import { collect, collectBare, protocolOf, type CollectionParts, type Exchange } from './collect.ts'
import { describeConfiguration } from './configuration.ts'
import { currentRecorder } from './current-recorder.ts'
import { diagnose, diagnosticBody, type Diagnosis } from './debug-answer.ts'
import { attempt, isError, nameOfError } from './foreign-value.ts'
import type { KnownSecrets } from './known-secrets.ts'
import { OpenExchanges } from './open-exchanges.ts'
import type { AnyPanel, Panel, ViewContext } from './panel.ts'
import { PluginTree } from './plugin-tree.ts'
import type { Configuration, Json, Profile, SearchCriteria, SearchResult, Span } from './profile.ts'
import type { ProfileStore } from './profile-store.ts'
import { serialise, summarise } from './profile-text.ts'
import { watchBody } from './received.ts'
import { Recorder } from './recorder.ts'
import { RouteTable } from './route-table.ts'
import { resolveSources } from './source-excerpt.ts'
import { permitToolbar } from './toolbar-policy.ts'

/** What a profiler is made of; every option of the plugin has its value here. */
export interface ProfilerParts {
  app: FastifyInstance
  base: string
  store: ProfileStore
  bounds: ProfileBounds
  access: Access
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

/** Follows every request from its arrival to its stored profile. */
export class Profiler {
  readonly routes = new RouteTable()
  readonly plugins = new PluginTree()
  readonly access: Access
  readonly #parts: ProfilerParts
  readonly #recorders = new Attachment<Recorder>()
  readonly #exchanges = new Attachment<Exchange>()
  readonly #connections = new WeakMap<Socket, Exchange[]>()
  readonly #open = new OpenExchanges()
  /** Requests of the profiler's own pages whose URLs do not look like it. */
  readonly #disguised = new WeakSet<IncomingMessage>()
  #configuration: Configuration | null = null
  #configurationKey = ''
  /** Milliseconds the text of the profile before took: what a profile itself costs to be stored is known too late to be in it. */
  #textCost = 0

  readonly #takeBack: () => void

  constructor (parts: ProfilerParts) {
    this.#parts = parts
    this.access = parts.access
    // The request that ends a process is the one that somebody looks for.
    this.#takeBack = atExit(() => this.#guard(() => this.#finishOpen()))
  }

  /** How many requests have no profile yet. */
  get pending (): number {
    return this.#open.count
  }

  /** Resolves when every request that has been answered has its profile, on disk where there is one. */
  async settled (): Promise<void> {
    await Promise.all(this.#open.list().map(({ stored }) => stored))
    this.#parts.store.flush()
  }

  /** The profile of a token; "latest" is the newest. */
  async find (token: string): Promise<Profile | null> {
    await (token === 'latest' ? this.settled() : this.#open.list().find(({ recorder }) => recorder.token === token)?.stored)
    return this.#parts.store.find(token)
  }

  /** Whether the answer to a request is not out yet. */
  isRunning (token: string): boolean {
    return this.#open.list().some(({ recorder }) => recorder.token === token && recorder.ended === null)
  }

  /** The profiles there are that match, the newest first. */
  async search (criteria: SearchCriteria): Promise<SearchResult> {
    await Promise.all(this.#open.list().map(({ due }) => due))
    return this.#parts.store.search(criteria)
  }

  /** What a view of this profile needs. */
  viewContext (profile: Profile): ViewContext {
    const { base, editorUrl, root, store } = this.#parts
    const configuration = this.#configuration?.key === profile.configuration
      ? this.#configuration
      : store.findConfiguration(profile.configuration)
    return { profile: resolveSources(profile), configuration, base, editorUrl, root }
  }

  /** The recorder of a request, made at its first mention; none for the profiler's own pages. */
  recorderOf (raw: IncomingMessage): Recorder | undefined {
    const known = this.#recorders.get(raw)
    const { url = '/' } = raw
    if (known !== undefined || this.#isOwn(url) || this.#disguised.has(raw)) return known
    const recorder = new Recorder(raw, currentRecorder()?.token ?? null, this.#parts.bounds)
    for (const note of this.#parts.notes) recorder.note(note)
    this.#recorders.set(raw, recorder)
    return recorder
  }

  /** A request is there, and its response to be watched; being told twice changes nothing. */
  arrive (raw: IncomingMessage, response: ServerResponse): Exchange | null {
    const known = this.#exchanges.get(raw)
    if (known !== undefined) return known
    const before = performance.now()
    const recorder = this.recorderOf(raw)
    if (recorder === undefined) return null
    const answer = watchAnswer(response, {
      failed: error => recorder.exception(error),
      beforeHead: () => recorder.aside(() => this.#addHeaders(exchange)),
      replacement: () => recorder.aside(() => {
        const diagnosis = this.#guard(() => diagnose(exchange, response))
        if (diagnosis === null || this.#disguised.has(raw) || this.#guard(() => this.access.judge(raw)) !== 'allowed') return null
        return body => recorder.aside(() => this.#guard(() => this.#replace(exchange, diagnosis, body)))
      })
    })
    const exchange: Exchange = {
      recorder,
      raw,
      response,
      answer,
      received: watchBody(raw),
      request: null,
      reply: null,
      hijacked: false,
      finished: false,
      place: null,
      due: null,
      stored: null
    }
    this.#exchanges.set(raw, exchange)
    this.#open.add(exchange)
    response.once('finish', () => { exchange.finished = true })
    response.once('close', () => this.#close(exchange))
    this.#connectionOf(raw.socket).push(exchange)
    recorder.ownTime += performance.now() - before
    return exchange
  }

  /** Fastify has made its request and reply, and found the pattern of the route unless there is none. */
  enter (request: FastifyRequest, reply: FastifyReply, pattern?: string): void {
    const exchange = this.arrive(request.raw, reply.raw)
    if (exchange === null || exchange.request !== null) return
    exchange.request = request
    // A router reads "/%5fprofiler" as it reads "/_profiler", and may be told to overlook case and slashes.
    if (pattern !== undefined && this.#isOwn(pattern)) return this.#disown(exchange)
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
      then.call(this, () => {
        recorder.goesOn()
        fulfilled()
      }, rejected)
    }
    reply.hijack = watchedHijack
    reply.send = watchedSend
    reply.then = watchedThen
  }

  /** Describes the application as it stands now that it is ready. */
  configure (): void {
    const { app, versions, settings, store } = this.#parts
    this.#configuration = describeConfiguration({
      versions: { fastify: app.version, ...versions },
      settings,
      plugins: this.plugins.root,
      routes: this.routes.routes
    })
    this.#configurationKey = this.#configuration.key
    store.writeConfiguration(this.#configuration)
  }

  /**
   * Makes an error page for nobody: the first one costs several times as much as any other, and is the one that
   * somebody waits for.
   */
  warmUp (): void {
    const raw = new IncomingMessage(new Socket())
    const response = new ServerResponse(raw)
    const { bounds, secrets, base, panels } = this.#parts
    for (let time = 0; time < 3; time++) {
      const recorder = new Recorder(raw, null, bounds)
      recorder.fail(new Error('nothing', { cause: new Error('nothing') }), null)
      const answer = { status: null, bytes: 0, streamed: false, brokenOff: false }
      const exchange = { recorder, raw, response, answer, received: null, request: null, reply: null, hijacked: false, finished: true, place: null, due: null, stored: null }
      // Without the application's panels: they need not know of it.
      const profile = collect(exchange, { bounds, secrets, routes: this.routes, panels: [], configuration: this.#configurationKey, toError: this.#parts.toError })
      diagnosticBody('error-page', response, Buffer.alloc(0), this.viewContext(profile), panels, base)
    }
  }

  /** Stores what is still open, as unfinished, and stops. */
  async stop (): Promise<void> {
    await this.settled()
    this.#finishOpen()
    this.#takeBack()
    this.#parts.store.close()
  }

  #finishOpen (): void {
    for (const exchange of this.#open.list()) this.#finish(exchange)
    this.#parts.store.flush()
  }

  #isOwn (url: string): boolean {
    const { base } = this.#parts
    return url.startsWith(base) && (url.length === base.length || url[base.length] === '/' || url[base.length] === '?')
  }

  /** Forgets a request that is one of the profiler's own after all. */
  #disown (exchange: Exchange): void {
    this.#disguised.add(exchange.raw)
    this.#recorders.delete(exchange.raw)
    this.#open.remove(exchange)
  }

  #addHeaders (exchange: Exchange): void {
    const { recorder, response, raw } = exchange
    if (this.#disguised.has(raw)) return
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

  #linkOf (exchange: Exchange): string {
    const { linkOrigin, base } = this.#parts
    const { recorder, raw } = exchange
    const host = requestHost(raw) ?? ''
    if (linkOrigin !== null) return `${linkOrigin}${base}/${recorder.token}`
    const plain = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(host) ? host : 'localhost'
    return `${protocolOf(exchange)}://${plain}${base}/${recorder.token}`
  }

  #replace (exchange: Exchange, diagnosis: Diagnosis, body: Buffer): Buffer | null {
    const profile = this.#collect(exchange)
    profile.status = exchange.response.statusCode
    profile.outcome = 'completed'
    const context = this.viewContext(profile)
    return diagnosticBody(diagnosis, exchange.response, body, context, this.#parts.panels, this.#linkOf(exchange))
  }

  #collect (exchange: Exchange): Profile {
    return this.#orElseBare(exchange, () => collect(exchange, this.#collectionParts()))
  }

  #collectionParts (): CollectionParts {
    const { bounds, secrets, ownPanels, toError } = this.#parts
    return { bounds, secrets, routes: this.routes, panels: ownPanels, configuration: this.#configurationKey, toError }
  }

  /** What a request carries may be such that nothing can be made of it: that it was there is never lost. */
  #orElseBare (exchange: Exchange, make: () => Profile): Profile {
    try {
      return make()
    } catch (error) {
      this.#complain(error)
      return collectBare(exchange, this.#collectionParts(), isError(error) ? nameOfError(error) : typeof error)
    }
  }

  /** The open exchanges of a connection: a response that waits behind another one is not told when the client leaves. */
  #connectionOf (socket: Socket): Exchange[] {
    const known = this.#connections.get(socket)
    if (known !== undefined) return known
    const exchanges: Exchange[] = []
    this.#connections.set(socket, exchanges)
    socket.once('close', () => { for (const exchange of [...exchanges]) this.#close(exchange) })
    return exchanges
  }

  #close (exchange: Exchange): void {
    const { recorder, raw } = exchange
    const siblings = this.#connectionOf(raw.socket)
    const place = siblings.indexOf(exchange)
    if (place !== -1) siblings.splice(place, 1)
    // Told by the response and by the connection, or none of its requests any more.
    if (recorder.ended !== null || !this.#open.has(exchange)) return
    recorder.ended = recorder.now()
    exchange.stored = new Promise(resolve => {
      const finish = () => {
        this.#guard(() => this.#finish(exchange))
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
  #wait (recorder: Recorder, callback: () => void): void {
    const deadline = setTimeout(callback, this.#parts.patience)
    const lookAgain = () => {
      if (recorder.underWay > 0) return onceIdle()
      clearTimeout(deadline)
      callback()
    }
    // One response hook ends before the next begins.
    const onceIdle = () => recorder.whenIdle(() => { setImmediate(lookAgain) })
    onceIdle()
  }

  #finish (exchange: Exchange): void {
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

  /** The profiler's own faults are told to the log and kept from the request. */
  #guard<Result> (call: () => Result): Result | null {
    try {
      return call()
    } catch (error) {
      this.#complain(error)
      return null
    }
  }

  #complain (error: unknown): void {
    // What cannot be profiled may not let itself be logged either.
    attempt(() => this.#parts.complain(error, 'The profiler failed; the request did not'), undefined)
  }
}

/** What the application has said under a header's name; null: nothing. */
function linesOf (response: ServerResponse, name: string): string[] | null {
  const value = response.getHeader(name)
  return value === undefined ? null : [value].flat().map(String)
}

/** Whether a line of X-Robots-Tag tells every robot to keep out of its index. */
function isForNoIndex (line: string): boolean {
  return !/^\s*[\w-]+\s*:/.test(line) && /(?:^|,)\s*(?:noindex|none)\s*(?:,|$)/i.test(line)
}

/** The token, and how long it took so far, in all and by dispatch point: what a browser tells its scripts of an answer. */
function serverTiming (recorder: Recorder): string {
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

function timingName ({ dispatchPoint, kind }: Span): string {
  return dispatchPoint ?? (kind === 'hook' ? 'other' : kind)
}

function hundredths (milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}
