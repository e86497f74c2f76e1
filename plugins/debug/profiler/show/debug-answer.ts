import type { ServerResponse } from 'node:http'
import type { Exchange } from '../watch/exchange.ts'
import { endOfBody } from './end-of-body.ts'
import { isNavigation, preferredForm } from './negotiation.ts'
import type { AnyPanel, ViewContext } from '../collect/panel.ts'
import type { Json, Profile } from '../base/profile.ts'
import { permitToolbar } from './parts/toolbar-policy.ts'
import { errorPagePolicy } from './parts/content-security-policy.ts'
import { renderErrorMarkdown } from './markdown/error-markdown.ts'
import { renderErrorPage } from './pages/diagnostic-error-page.ts'
import { renderToolbar } from './pages/toolbar.ts'

/** What is done to an answer on its way to somebody who may see diagnostics. */
export type Diagnosis = 'error-page' | 'error-markdown' | 'problem' | 'toolbar'

/** Headers of answers whose bodies are not what a browser shows. */
const untouched = ['content-encoding', 'content-disposition', 'content-range']

/** What an application says of its own body, which is not the one that is sent. */
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

/** What an answer is to carry, or null to leave it as it is; asked when its head is known and its body is not. */
export function diagnose({ raw, request, recorder, hijacked }: Exchange, response: ServerResponse): Diagnosis | null {
  const { statusCode } = response
  if (hijacked || raw.method === 'HEAD' || statusCode < 200 || statusCode === 204 || statusCode === 304) return null
  const isUntouched = untouched.some(name => response.hasHeader(name))
  const type = String(response.getHeader('content-type') ?? '')
  const isHtml = /^text\/html\b/i.test(type)
  if (statusCode >= 400) {
    // What a handler chose to answer with an error's status (a form with mistakes, "no such user") is no accident.
    const isAccident = recorder.failures.length > 0 || request === null || request.is404
    const form = preferredForm(raw)
    if (isAccident && form === 'html' && isNavigation(raw)) return 'error-page'
    if (isAccident && form === 'markdown') return 'error-markdown'
    if (!isUntouched && /^application\/problem\+json\b/i.test(type)) return 'problem'
  }
  // A part of a page is put together with others by whoever asked for it.
  if (isUntouched || statusCode === 206) return null
  return isHtml && (statusCode < 300 || statusCode >= 400) && isNavigation(raw) ? 'toolbar' : null
}

/** The body to send instead of the application's, with the headers it needs; null: send that. */
export function diagnosticBody(
  diagnosis: Diagnosis,
  response: ServerResponse,
  body: Buffer,
  context: ViewContext,
  panels: readonly AnyPanel[],
  link: string,
): Buffer | null {
  if (diagnosis === 'toolbar') return withToolbar(response, body, renderToolbar(context, panels).toString())
  if (diagnosis === 'problem') return withExceptions(body, context.profile, link)
  for (const name of ofTheOldBody) response.removeHeader(name)
  response.setHeader('cache-control', 'no-store')
  response.setHeader('x-content-type-options', 'nosniff')
  if (diagnosis === 'error-markdown') {
    response.setHeader('content-type', 'text/markdown; charset=utf-8')
    return Buffer.from(renderErrorMarkdown(context))
  }
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.setHeader('content-security-policy', errorPagePolicy)
  return Buffer.from(renderErrorPage(context))
}

function withToolbar(response: ServerResponse, body: Buffer, tag: string): Buffer | null {
  // Read as text of one byte a character, so that places in it are places in the body.
  const end = endOfBody(body.toString('latin1'))
  if (end === null) return null
  permitToolbar(response)
  return Buffer.concat([body.subarray(0, end), Buffer.from(tag), body.subarray(end)])
}

function withExceptions(body: Buffer, profile: Profile, link: string): Buffer | null {
  try {
    const problem: unknown = JSON.parse(body.toString())
    if (typeof problem !== 'object' || problem === null || Array.isArray(problem)) return null
    return Buffer.from(
      JSON.stringify({ ...problem, token: profile.token, link, exceptions: exceptionsForPrograms(profile) }),
    )
  } catch {
    return null
  }
}

/** The chain of exceptions as a program reads it: no source, frames as lines. */
function exceptionsForPrograms({ exceptions }: Profile): Json {
  return exceptions.map(({ class: name, message, code, relation, frames }) => ({
    class: name,
    message,
    code,
    relation,
    trace: frames.map(frame => `${frame.function ?? 'anonymous'} (${frame.file}:${frame.line}:${frame.column})`),
  }))
}
