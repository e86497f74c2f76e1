import { STATUS_CODES, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import fp from 'fastify-plugin'
import { ViewerAccess } from './show/viewer-access.ts'
import { defaultProfileBounds, defaultStoreBounds, type ProfileBounds, type StoreBounds } from './base/bounds.ts'
import { environmentSecrets } from './mask/environment-secrets.ts'
import { knownSecrets } from './mask/known-secrets.ts'
import { profiledLogger } from './watch/log-recorder.ts'
import type { Panel } from './collect/panel.ts'
import type { Json } from './base/profile.ts'
import { Profiler } from './profiler.ts'
import { ProfileStore } from './store/profile-store.ts'
import { loggerNote } from './watch/request-hooks.ts'
import type { Recorder } from './watch/recorder.ts'
import { builtInPanels } from './show/panels/built-in.ts'

declare module 'fastify' {
  interface FastifyInstance {
    profiler: Profiler
  }
  interface FastifyRequest {
    /** What records this request; null for the profiler's own pages. */
    readonly recorder: Recorder | null
  }
}

export interface ProfilerOptions {
  /** Where the pages are; "/_profiler". */
  base?: string
  /** Where profiles are stored; ".profiler" in the working directory. */
  directory?: string
  /** What the store holds in all. */
  storeBounds?: Partial<StoreBounds>
  /** What one profile holds. */
  profileBounds?: Partial<ProfileBounds>
  /** Addresses and networks that may look, besides the machine itself. */
  allow?: readonly string[]
  /**
   * Whether a host name is the application's; local names and IP addresses always are. Where it answers with a
   * promise, a response under that name shows nothing of the profiler, but the profiler's pages do.
   */
  isTrustedHost?: (host: string) => boolean | Promise<boolean>
  /** The application's own panels. */
  panels?: ReadonlyArray<Panel<unknown>>
  /** Names of the labels that those panels give profiles, for the search form. */
  labels?: readonly string[]
  /** "vscode://file/{file}:{line}:{column}": makes file names links. */
  editorUrl?: string | null
  /** "https://example.org": the origin of links to profiles; that of the request if it is missing. */
  linkOrigin?: string | null
  /** The application's folder, to shorten file names; the working directory. */
  root?: string
  /** Values that are masked wherever they turn up, besides those that names give away. */
  secrets?: readonly string[]
  /** Shown on the configuration panel, masked by their names. */
  settings?: Record<string, Json>
  versions?: Record<string, string>
  /** Milliseconds a profile waits for queries that outlive their answer. */
  patience?: number
  /** What the application's error handler makes of an error, where that is the one to show; the error itself. */
  toError?: (thrown: Error) => Error
}

/** Profiles every request. Register it before everything that is to be seen in a profile. */
async function profiler(app: FastifyInstance, options: ProfilerOptions): Promise<void> {
  const base = checkedBase(options.base ?? '/_profiler')
  const ownPanels = options.panels ?? []
  const panels = [...builtInPanels.slice(0, -1), ...ownPanels, ...builtInPanels.slice(-1)]
  const complain = (error: unknown, message: string) => {
    app.log.warn({ err: error }, message)
  }
  const bounds = { ...defaultProfileBounds, ...options.profileBounds }
  const directory = options.directory ?? join(process.cwd(), '.profiler')
  const note = loggerNote(app)
  const instance = new Profiler({
    app,
    base,
    bounds,
    panels: checkedPanels(panels),
    ownPanels,
    labels: options.labels ?? [],
    complain,
    store: new ProfileStore({
      directory,
      bounds: checkedBounds({ ...defaultStoreBounds, ...options.storeBounds }),
      complain,
    }),
    access: new ViewerAccess({ allow: options.allow ?? [], isTrustedHost: options.isTrustedHost ?? (() => false) }),
    secrets: knownSecrets([...environmentSecrets(process.env), ...(options.secrets ?? [])]),
    editorUrl: options.editorUrl ?? null,
    linkOrigin: options.linkOrigin ?? null,
    root: options.root ?? process.cwd(),
    settings: options.settings ?? {},
    versions: options.versions ?? {},
    patience: options.patience ?? 1000,
    toError: options.toError ?? (thrown => thrown),
    notes: note === null ? [] : [note],
  })

  app.decorate('profiler', instance)
  app.decorateRequest('recorder', {
    getter() {
      return instance.recorderOf(this.raw) ?? null
    },
  })
  instance.install()
  app.addHook('onReady', async () => {
    instance.configure()
  })
  app.addHook('onClose', async () => {
    await instance.stop()
  })
}

function checkedBase(base: string): string {
  if (/^\/[\w./-]*\w$/.test(base)) return base
  throw new Error(`The profiler's "base" is a path such as "/_profiler", not "${base}".`)
}

function checkedBounds(bounds: StoreBounds): StoreBounds {
  for (const [name, value] of Object.entries(bounds)) {
    if (!(value >= 1)) {
      throw new Error(`The profiler's "storeBounds.${name}" is a number from 1 on, not ${String(value)}.`)
    }
  }
  return bounds
}

function checkedPanels<Some extends { name: string }>(panels: readonly Some[]): readonly Some[] {
  const names = new Set<string>()
  for (const { name } of panels) {
    if (!/^[\w-]+$/.test(name)) throw new Error(`A panel's name is letters, digits, - and _, not "${name}".`)
    if (names.has(name)) throw new Error(`There are two panels named "${name}".`)
    names.add(name)
  }
  return panels
}

/**
 * The options of the Fastify constructor, made so that nothing escapes the profiler: log lines of every level,
 * and requests that fail before any hook runs, injected ones too. Only the profiler's presence makes it matter.
 */
export function profiledOptions<Options extends FastifyServerOptions>(options: Options) {
  const { frameworkErrors } = options
  return {
    ...options,
    ...(options.loggerInstance === undefined && { logger: profiledLogger(options.logger) }),
    frameworkErrors(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
      const { server } = reply
      if (server.hasDecorator('profiler')) server.profiler.failEarly(error, request, reply)
      if (frameworkErrors !== undefined) return frameworkErrors(error, request, reply)
      answerAsFastify(error, reply.raw)
    },
  }
}

/** What Fastify answers itself where there is no `frameworkErrors`. */
function answerAsFastify({ code, message, statusCode = 400 }: FastifyError, response: ServerResponse): void {
  const body = JSON.stringify({ error: STATUS_CODES[statusCode], code, message, statusCode })
  response.writeHead(statusCode, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}

export default fp(profiler, { name: 'profiler', fastify: '5.x' })

export { currentRecorder } from './watch/current-recorder.ts'
export { captureCallSite, isForeign, originalLocation } from './base/call-site.ts'
export { profiledLogger, recordedLogger } from './watch/log-recorder.ts'
export { masked } from './mask/known-secrets.ts'
export { looksSecret } from './mask/secret-values.ts'
export { isSensitiveField } from './mask/sensitive-names.ts'
export { toMicroseconds } from './base/microseconds.ts'
export type { Panel, PanelView, ViewContext, FinishedRequest, Badge, ToolbarItem, Tone } from './collect/panel.ts'
export type { Profile, Json, Span, SpanKind, Location } from './base/profile.ts'
export type { Recorder, SpanDescription, OpenSpan } from './watch/recorder.ts'
export type { ProfileBounds, StoreBounds } from './base/bounds.ts'
export { renderBadge } from './show/parts/badge.ts'
export { renderSqlBlock } from './show/parts/code-block.ts'
export { renderDataTable } from './show/parts/data-table.ts'
export { renderEmptyState } from './show/parts/empty-state.ts'
export { html } from './base/html.ts'
export { blocks, code, codeBlock, plain, table } from './show/markdown/markdown.ts'
export { renderKeyValueTable } from './show/parts/key-value-table.ts'
export { locationText, renderLocation } from './show/parts/location.ts'
export { renderMetrics } from './show/parts/metrics.ts'
export { renderSection } from './show/parts/section.ts'
export { count, formatDuration } from './show/parts/units.ts'
