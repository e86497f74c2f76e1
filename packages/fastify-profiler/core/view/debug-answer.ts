import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SourceMap } from 'node:module'
import { resolveFrames } from './source-excerpt.ts'
import { type Collector, protocolOf } from '../collect.ts'
import { features } from '../feature.ts'
import type { AnyPanel, ViewContext } from '../panel.ts'
import { setHeader } from '../foreign-value.ts'
import type { Exception, Json, Span } from '../profile.ts'
import type { Replace } from '../watch/body-replacement.ts'
import type { Exchange } from '../watch/exchange.ts'
import type { AnswerEditor } from '../watch/exchanges.ts'
import type { Recorder } from '../watch/recorder.ts'
import { errorPagePolicy } from './page.ts'
import { preferredForm } from './send-formats.ts'
import { endOfBody, permitsReports, permitToolbar } from './toolbar-place.ts'
import { renderToolbar } from './toolbar.ts'
import { makeViewContext, type ViewSettings } from './view-context.ts'
import { reachableHost, type ViewerAccess } from './viewer-access.ts'

/** Whether the response is for a page or a frame, not for a script, an image or a download. */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  if (headers['x-requested-with'] !== undefined) return false
  const destination = headers['sec-fetch-dest']
  if (destination !== undefined) {
    return destination === 'document' || destination === 'iframe' || destination === 'frame'
  }
  const { accept = '' } = headers
  return method !== 'HEAD' && accept.includes('text/html')
}

/** How a response is changed for a client that may see diagnostics. */
type Diagnosis = 'error-page' | 'error-markdown' | 'problem' | 'toolbar'

/** Headers of responses that a browser does not show as a page. */
const untouched = ['content-encoding', 'content-disposition', 'content-range']

/** Headers that describe the application's body, which the diagnostic page replaces. */
const ofTheOldBody = [
  ...untouched,
  'content-language',
  'content-location',
  'content-md5',
  'content-digest',
  'repr-digest',
  'digest',
  'accept-ranges',
  'etag',
  'last-modified',
]

/** The diagnosis for a response, or null to leave it unchanged. Called when its head is known but not its body. */
function diagnose({ raw, request, recorder, hijacked }: Exchange, response: ServerResponse): Diagnosis | null {
  const { statusCode } = response
  if (hijacked || raw.method === 'HEAD' || statusCode < 200 || statusCode === 204 || statusCode === 304) return null
  const isUntouched = untouched.some(name => response.hasHeader(name))
  const type = String(response.getHeader('content-type') ?? '')
  const isHtml = /^text\/html\b/i.test(type)
  if (statusCode >= 400) {
    // A handler may send an error status on purpose (an invalid form, "no such user").
    const isAccident = recorder.failures.length > 0 || request === null || request.is404
    const form = preferredForm(raw)
    if (isAccident && form === 'html' && isNavigation(raw)) return 'error-page'
    if (isAccident && form === 'markdown') return 'error-markdown'
    if (!isUntouched && /^application\/problem\+json\b/i.test(type)) return 'problem'
  }
  // The client assembles partial content from several responses.
  if (isUntouched || statusCode === 206) return null
  return isHtml && (statusCode < 300 || statusCode >= 400) && isNavigation(raw) ? 'toolbar' : null
}

/** The body to send instead of the application's, which also sets its headers; null keeps the application's. */
function diagnosticBody(
  diagnosis: Exclude<Diagnosis, 'problem'>,
  response: ServerResponse,
  body: Buffer,
  context: ViewContext,
  panels: readonly AnyPanel[],
): Buffer | null {
  if (diagnosis === 'toolbar') {
    return withToolbar(response, body, renderToolbar(context, panels, permitsReports(response)).toString())
  }
  const failures = features.find(({ failures }) => failures !== undefined)?.failures
  if (failures === undefined) return null
  for (const name of ofTheOldBody) response.removeHeader(name)
  setHeader(response, 'cache-control', 'no-store')
  setHeader(response, 'x-content-type-options', 'nosniff')
  if (diagnosis === 'error-markdown') {
    setHeader(response, 'content-type', 'text/markdown; charset=utf-8')
    return Buffer.from(failures.markdown(context))
  }
  setHeader(response, 'content-type', 'text/html; charset=utf-8')
  setHeader(response, 'content-security-policy', errorPagePolicy)
  return Buffer.from(failures.page(context))
}

function withToolbar(response: ServerResponse, body: Buffer, tag: string): Buffer | null {
  // Latin-1 has one byte per character, so that string indexes are byte offsets.
  const end = endOfBody(body.toString('latin1'))
  if (end === null) return null
  permitToolbar(response)
  return Buffer.concat([body.subarray(0, end), Buffer.from(tag), body.subarray(end)])
}

/** The Server-Timing header: the token and the duration so far, in total and by dispatch point. */
function serverTiming(recorder: Recorder): string {
  const sums = new Map<string, number>()
  for (const span of recorder.spans) {
    const name = timingName(span)
    const parent = span.parent === null ? undefined : recorder.spans[span.parent]
    // The parent's duration includes it.
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

/** Adds the headers that link a response to its profile. */
function addDebugHeaders({ recorder, response }: Exchange, link: string): void {
  // After a 304 the browser applies this response's policy to the cached page and its toolbar.
  if (response.statusCode === 304) permitToolbar(response)
  response.setHeader('x-debug-token', recorder.token)
  response.setHeader('x-debug-token-link', link)
  const robots = linesOf(response, 'x-robots-tag')
  if (robots === null) response.setHeader('x-robots-tag', 'noindex')
  else if (!robots.some(isForNoIndex)) setHeader(response, 'x-robots-tag', [...robots, 'noindex'])
  const timing = serverTiming(recorder)
  const timings = linesOf(response, 'server-timing')
  setHeader(response, 'server-timing', timings === null ? timing : [timing, ...timings])
}

/** The application's values of a header; null if it set none. */
function linesOf(response: ServerResponse, name: string): string[] | null {
  const value = response.getHeader(name)
  return value === undefined ? null : [value].flat().map(String)
}

/** Whether a line of X-Robots-Tag already tells every robot not to index. */
function isForNoIndex(line: string): boolean {
  return !/^\s*[\w-]+\s*:/.test(line) && /(?:^|,)\s*(?:noindex|none)\s*(?:,|$)/i.test(line)
}

/** Adds exceptions to a body of type application/problem+json; null if it is no JSON object. */
function withExceptions(body: Buffer, exceptions: readonly Exception[], token: string, link: string): Buffer | null {
  try {
    const problem: unknown = JSON.parse(body.toString())
    if (typeof problem !== 'object' || problem === null || Array.isArray(problem)) return null
    return Buffer.from(JSON.stringify({ ...problem, token, link, exceptions: exceptionsForPrograms(exceptions) }))
  } catch {
    return null
  }
}

/** The exception chain for programs: no source, one line per frame. */
function exceptionsForPrograms(exceptions: readonly Exception[]): Json {
  const maps = new Map<string, SourceMap | null>()
  return exceptions.map(({ class: name, message, code, relation, frames }) => ({
    class: name,
    message,
    code,
    relation,
    trace: resolveFrames(frames, maps).map(
      frame => `${frame.function ?? 'anonymous'} (${frame.file}:${frame.line}:${frame.column})`,
    ),
  }))
}

interface AnswerDiagnosticsParts extends ViewSettings {
  collector: Collector
  access: ViewerAccess
  panels: readonly AnyPanel[]
  /** Origin of links to profiles; null for the request's own. */
  linkOrigin: string | null
}

/** Adds a request's diagnostics to its own response. */
export class AnswerDiagnostics implements AnswerEditor {
  readonly #parts: AnswerDiagnosticsParts

  constructor(parts: AnswerDiagnosticsParts) {
    this.#parts = parts
  }

  editHead(exchange: Exchange): void {
    addDebugHeaders(exchange, this.#linkOf(exchange))
  }

  editBody(exchange: Exchange): Replace | null {
    const { access, collector, panels } = this.#parts
    const { raw, response } = exchange
    const diagnosis = diagnose(exchange, response)
    if (diagnosis === null || access.judge(raw) !== 'allowed') return null
    if (diagnosis === 'problem') {
      return body => {
        const exceptions = collector.collectExceptions(exchange)
        return withExceptions(body, exceptions, exchange.recorder.token, this.#linkOf(exchange))
      }
    }
    return body => {
      const profile = collector.collect(exchange, ({ profile }) => profile)
      profile.status = response.statusCode
      profile.outcome = 'completed'
      const context = makeViewContext(profile, this.#parts)
      return diagnosticBody(diagnosis, response, body, context, panels)
    }
  }

  #linkOf(exchange: Exchange): string {
    const { linkOrigin, base } = this.#parts
    const origin = linkOrigin ?? `${protocolOf(exchange)}://${reachableHost(exchange)}`
    return `${origin}${base}/${exchange.recorder.token}`
  }
}
