import type { ServerResponse } from 'node:http'
import type { SourceMap } from 'node:module'
import type { Diagnosis } from '../../core/feature.ts'
import { attempt, isRecord, setHeader } from '../../core/foreign-value.ts'
import type { Exception, Json } from '../../core/profile.ts'
import { isNavigation, untouched } from '../../core/view/debug-answer.ts'
import { errorPagePolicy } from '../../core/view/page.ts'
import { preferredForm } from '../../core/view/send-formats.ts'
import { resolveFrames } from './source-excerpt.ts'
import type { Replace } from '../../core/watch/answer.ts'
import type { Exchange } from '../../core/watch/exchange.ts'
import { renderErrorPage } from './error-page.ts'
import { renderErrorMarkdown } from './failure-sections.ts'

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

/** What tells the client of a failed request why it failed. */
export function explainFailure(exchange: Exchange, { exceptions, link, view }: Diagnosis): Replace | null {
  const { raw, recorder, request, response } = exchange
  if (response.statusCode < 400) return null
  const type = String(response.getHeader('content-type') ?? '')
  const isPage = /^text\/html\b/i.test(type)
  // A handler may send an error status on purpose (an invalid form, "no such user"), or a page for what it caught.
  const isUnanswered = recorder.failures.some(({ from }) => from === 'thrown' || (from === 'caught' && !isPage))
  const isAccident = isUnanswered || request === null || request.is404
  const form = preferredForm(raw)
  if (isAccident && form === 'html' && isNavigation(raw)) {
    return () => {
      const page = renderErrorPage(view())
      replaceHeaders(response, 'text/html; charset=utf-8')
      setHeader(response, 'content-security-policy', errorPagePolicy())
      return Buffer.from(page)
    }
  }
  if (isAccident && form === 'markdown') {
    return () => {
      const text = renderErrorMarkdown(view())
      replaceHeaders(response, 'text/markdown; charset=utf-8')
      return Buffer.from(text)
    }
  }
  if (!/^application\/problem\+json\b/i.test(type) || untouched.some(name => response.hasHeader(name))) return null
  return body => withExceptions(body, exceptions(), recorder.token, link())
}

function replaceHeaders(response: ServerResponse, type: string): void {
  for (const name of ofTheOldBody) response.removeHeader(name)
  setHeader(response, 'cache-control', 'no-store')
  setHeader(response, 'x-content-type-options', 'nosniff')
  setHeader(response, 'content-type', type)
}

/** Adds exceptions to a body of type application/problem+json; null if it is no JSON object. */
function withExceptions(body: Buffer, exceptions: readonly Exception[], token: string, link: string): Buffer | null {
  const problem = attempt((): unknown => JSON.parse(body.toString()), null)
  if (!isRecord(problem)) return null
  return Buffer.from(JSON.stringify({ ...problem, token, link, exceptions: exceptionsForPrograms(exceptions) }))
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
