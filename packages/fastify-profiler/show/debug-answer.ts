import type { ServerResponse } from 'node:http'
import type { Exchange } from '../watch/exchange.ts'
import { setHeader } from '../base/set-header.ts'
import { endOfBody } from './end-of-body.ts'
import { isNavigation } from './navigation.ts'
import { preferredForm } from './preferred-form.ts'
import type { AnyPanel, ViewContext } from '../collect/panel.ts'
import { permitsReports, permitToolbar } from './parts/toolbar-policy.ts'
import { errorPagePolicy } from './parts/content-security-policy.ts'
import { renderErrorMarkdown } from './markdown/error-markdown.ts'
import { renderErrorPage } from './pages/diagnostic-error-page.ts'
import { renderToolbar } from './pages/toolbar.ts'

/** How a response is changed for a client that may see diagnostics. */
export type Diagnosis = 'error-page' | 'error-markdown' | 'problem' | 'toolbar'

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
export function diagnose({ raw, request, recorder, hijacked }: Exchange, response: ServerResponse): Diagnosis | null {
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
export function diagnosticBody(
  diagnosis: Exclude<Diagnosis, 'problem'>,
  response: ServerResponse,
  body: Buffer,
  context: ViewContext,
  panels: readonly AnyPanel[],
): Buffer | null {
  if (diagnosis === 'toolbar') {
    return withToolbar(response, body, renderToolbar(context, panels, permitsReports(response)).toString())
  }
  for (const name of ofTheOldBody) response.removeHeader(name)
  setHeader(response, 'cache-control', 'no-store')
  setHeader(response, 'x-content-type-options', 'nosniff')
  if (diagnosis === 'error-markdown') {
    setHeader(response, 'content-type', 'text/markdown; charset=utf-8')
    return Buffer.from(renderErrorMarkdown(context))
  }
  setHeader(response, 'content-type', 'text/html; charset=utf-8')
  setHeader(response, 'content-security-policy', errorPagePolicy)
  return Buffer.from(renderErrorPage(context))
}

function withToolbar(response: ServerResponse, body: Buffer, tag: string): Buffer | null {
  // Latin-1 has one byte per character, so that string indexes are byte offsets.
  const end = endOfBody(body.toString('latin1'))
  if (end === null) return null
  permitToolbar(response)
  return Buffer.concat([body.subarray(0, end), Buffer.from(tag), body.subarray(end)])
}
