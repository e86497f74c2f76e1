import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Collector, panelSpans, protocolOf } from '../collect.ts'
import { features } from '../feature.ts'
import { setHeader } from '../foreign-value.ts'
import { type Interval, lengthOf, runsOf } from '../intervals.ts'
import type { AnyPanel } from '../panel.ts'
import type { Replace } from '../watch/answer.ts'
import type { Exchange } from '../watch/exchange.ts'
import type { AnswerEditor } from '../watch/exchanges.ts'
import type { Recorder } from '../watch/recorder.ts'
import { makeViewContext, type ViewSettings } from './view-context.ts'
import { reachableHost, type ViewerAccess } from './viewer-access.ts'

/** Whether the response is for a page or a frame, not for a script, an image or a download. */
export function isNavigation({ method, headers }: IncomingMessage): boolean {
  if (headers['x-requested-with'] !== undefined) return false
  const destination = headers['sec-fetch-dest']
  if (destination !== undefined) {
    return destination === 'document' || destination === 'iframe' || destination === 'frame'
  }
  const { accept = '' } = headers
  return method !== 'HEAD' && accept.includes('text/html')
}

/** Headers of responses that a browser does not show as a page. */
export const untouched = ['content-encoding', 'content-disposition', 'content-range']

function hasBody({ hijacked, raw, response: { statusCode } }: Exchange): boolean {
  return !hijacked && raw.method !== 'HEAD' && statusCode >= 200 && statusCode !== 204 && statusCode !== 304
}

/** The Server-Timing header: the token and the duration so far, in total and by dispatch point, as panels tell it. */
function serverTiming({ clock, spans, token }: Recorder): string {
  const now = clock.now()
  const blocked = clock.blockedWithin(0, Infinity)
  const runs = new Map<string, Interval[]>()
  for (const span of spans) {
    const isOperation = panelSpans.has(span.kind)
    const name = (isOperation ? null : span.dispatchPoint) ?? (span.kind === 'hook' ? 'other' : span.kind)
    const isOpen = span.outcome === 'unfinished'
    const own = runsOf(span, isOperation ? blocked : [], isOpen ? now - span.start : span.duration)
    const known = runs.get(name)
    if (known === undefined) runs.set(name, own)
    else known.push(...own)
  }
  let timing = `token;desc="${token}", total;dur=${inHundredths(now)}`
  for (const [name, own] of runs) timing += `, ${name};dur=${inHundredths(lengthOf(own))}`
  return timing
}

function inHundredths(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}

function addDebugHeaders({ recorder, response }: Exchange, link: string): void {
  response.setHeader('x-debug-token', recorder.token)
  response.setHeader('x-debug-token-link', link)
  const robots = linesOf(response, 'x-robots-tag')
  if (robots === null) response.setHeader('x-robots-tag', 'noindex')
  else if (!robots.some(isForNoIndex)) setHeader(response, 'x-robots-tag', [...robots, 'noindex'])
  const timing = serverTiming(recorder)
  const timings = linesOf(response, 'server-timing')
  setHeader(response, 'server-timing', timings === null ? timing : [timing, ...timings])
}

function linesOf(response: ServerResponse, name: string): string[] | null {
  const value = response.getHeader(name)
  return value === undefined ? null : [value].flat().map(String)
}

/** Whether a line of X-Robots-Tag already tells every robot not to index. */
function isForNoIndex(line: string): boolean {
  return !/^\s*[\w-]+\s*:/.test(line) && /(?:^|,)\s*(?:noindex|none)\s*(?:,|$)/i.test(line)
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
  readonly #answers = features.flatMap(({ answer }) => answer ?? [])

  constructor(parts: AnswerDiagnosticsParts) {
    this.#parts = parts
  }

  editHead(exchange: Exchange): void {
    for (const { head } of this.#answers) head?.(exchange)
    addDebugHeaders(exchange, this.#linkOf(exchange))
  }

  editBody(exchange: Exchange): Replace | null {
    const { access, collector, panels } = this.#parts
    if (!hasBody(exchange)) return null
    const diagnosis = {
      panels,
      link: () => this.#linkOf(exchange),
      exceptions: () => collector.collectExceptions(exchange),
      view: () => {
        const profile = collector.collect(exchange, ({ profile }) => profile)
        profile.status = exchange.response.statusCode
        profile.outcome = 'completed'
        return makeViewContext(profile, this.#parts)
      },
    }
    for (const { body } of this.#answers) {
      const replace = body(exchange, diagnosis)
      if (replace !== null) return access.judge(exchange.raw) === 'allowed' ? replace : null
    }
    return null
  }

  #linkOf(exchange: Exchange): string {
    const { linkOrigin, base } = this.#parts
    const origin = linkOrigin ?? `${protocolOf(exchange)}://${reachableHost(exchange)}`
    return `${origin}${base}/${exchange.recorder.token}`
  }
}
