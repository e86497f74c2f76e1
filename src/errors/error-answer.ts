import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http'
import { memoize } from '../http/memoize.ts'
import { negotiateType } from '../http/negotiation.ts'
import { renderClosedPage } from '../pages/closure-view.ts'
import { pageHeaders } from '../pages/site-page.ts'
import { languageOfWords } from '../pages/visitor-words.ts'
import { type Advice, renderErrorPage, renderSiteErrorPage, type SiteOfError } from './error-page.ts'
import {
  BadRequestHttpError,
  HttpError,
  type HttpHeaders,
  noHeaders,
  ServiceUnavailableHttpError,
  SiteClosedHttpError,
} from './http-errors.ts'

/** Chooses the media type of an error response by an Accept header. */
export const errorForm = negotiateType(['application/problem+json', 'application/json', 'text/html', 'text/plain'])

type ErrorType = ReturnType<typeof errorForm>

const problemHeaders = headersFor('application/problem+json')

const headersOf: Record<ErrorType, ErrorAnswer['headers']> = {
  'application/problem+json': problemHeaders,
  'application/json': problemHeaders,
  // Set here because errors before the first hook do not reach the security-headers plugin.
  'text/html': { ...headersFor('text/html'), ...pageHeaders },
  'text/plain': headersFor('text/plain'),
}

const pageHeadersIn = memoize(language => ({ ...headersOf['text/html'], 'content-language': language }), 200)

export interface ErrorAnswer {
  statusCode: number
  headers: HttpHeaders
  body: string
}

/** The BadRequestHttpErrors made from other errors: asking twice returns the same one. */
const malformed = new WeakMap<Error, BadRequestHttpError>()

/**
 * Converts a thrown value to an Error. An error with status 400 becomes the cause of a BadRequestHttpError (interface
 * specification, "Errors").
 */
export function toError(thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : errorOf(thrown)
  if (error instanceof HttpError || statusOf(error) !== 400) return error
  const known = malformed.get(error)
  if (known !== undefined) return known
  const badRequest = new BadRequestHttpError(error.message, { cause: error, headers: headersFrom(error) })
  malformed.set(error, badRequest)
  return badRequest
}

/** Like Fastify, respects the statusCode, message and headers of thrown objects. */
function errorOf(thrown: unknown): Error {
  if (typeof thrown !== 'object' || thrown === null) return new Error(`Thrown: ${String(thrown)}`)
  const { statusCode, message, headers }: { statusCode?: unknown; message?: unknown; headers?: unknown } = thrown
  const reason = STATUS_CODES[Number(statusCode)] ?? 'Thrown: an object without a message'
  return Object.assign(new Error(typeof message === 'string' ? message : reason), { statusCode, headers })
}

/** The statusCode of an error if it is from 400 to 599, otherwise 500. */
export function statusOf(error: Error): number {
  const statusCode = 'statusCode' in error ? Number(error.statusCode) : NaN
  return Number.isInteger(statusCode) && statusCode >= 400 && statusCode < 600 ? statusCode : 500
}

function headersFrom(error: Error): HttpHeaders {
  return 'headers' in error && error.headers !== noHeaders ? sendableHeaders(error.headers) : noHeaders
}

export function answerError(error: Error, accept: string | undefined, site?: SiteOfError): ErrorAnswer {
  const statusCode = statusOf(error)
  if (error instanceof SiteClosedHttpError && site !== undefined && errorForm(accept) === 'text/html') {
    const page = renderClosedPage(error.closure, site.name, site.locale, error.signIn)
    return answerPage(statusCode, error.headers, page, languageOfWords(site.locale))
  }
  const isForClients = error instanceof ServiceUnavailableHttpError || error instanceof SiteClosedHttpError
  const detail = statusCode < 500 || isForClients ? error.message : 'Internal Server Error'
  const advice = error instanceof HttpError ? error : undefined
  return answerFailure(statusCode, detail, headersFrom(error), accept, advice, site)
}

/** Like answerError, for a failure that needs no error. */
export function answerFailure(
  statusCode: number,
  detail: string,
  headers: ErrorAnswer['headers'],
  accept: string | undefined,
  advice?: Advice,
  site?: SiteOfError,
): ErrorAnswer {
  const type = errorForm(accept)
  if (site !== undefined && type === 'text/html') {
    const { page, language } = renderSiteErrorPage(statusCode, detail, site, advice)
    return answerPage(statusCode, headers, page, language)
  }
  return {
    statusCode,
    headers: headers === noHeaders ? headersOf[type] : { ...headers, ...headersOf[type] },
    body: render(type, statusCode, STATUS_CODES[statusCode] ?? 'Unknown Error', detail, advice),
  }
}

function answerPage(statusCode: number, headers: HttpHeaders, body: string, language: string): ErrorAnswer {
  const own = pageHeadersIn(language)
  return { statusCode, headers: headers === noHeaders ? own : { ...headers, ...own }, body }
}

function render(type: ErrorType, status: number, title: string, detail: string, advice: Advice | undefined): string {
  switch (type) {
    case 'text/html':
      return renderErrorPage(status, title, detail, advice)
    case 'text/plain':
      return `${detail.replace(/\p{Cc}+/gu, ' ')}\n`
    default:
      return problemText(status, title, detail, advice?.members)
  }
}

/**
 * Without extension members (RFC 9457, section 3.2) it is made by hand, because that saves 3 % of a 404: `npm run bench
 * -- --only 404`.
 */
function problemText(status: number, title: string, detail: string, members: Advice['members']): string {
  if (members !== undefined) return JSON.stringify({ type: 'about:blank', title, status, detail, ...members })
  return `{"type":"about:blank","title":"${title}","status":${status},"detail":${JSON.stringify(String(detail))}}`
}

function headersFor(type: string): ErrorAnswer['headers'] {
  return {
    'cache-control': 'no-store',
    'content-language': 'en',
    'x-content-type-options': 'nosniff',
    'content-type': `${type}; charset=utf-8`,
  }
}

/** Headers that describe another body or its transfer. */
const unfit = new Set(['content-encoding', 'content-length', 'etag', 'last-modified', 'trailer', 'transfer-encoding'])

/** Types that Node can write as text. */
const writable = new Set(['string', 'number', 'boolean'])

/**
 * The headers of an error that can be sent, with names in lower case. Any value may be thrown, and a single header that
 * Node rejects would prevent the whole response.
 */
function sendableHeaders(headers: unknown): HttpHeaders {
  const sendable: Record<string, string | string[]> = {}
  if (typeof headers !== 'object' || headers === null) return sendable
  for (const [name, value] of Object.entries(headers)) {
    const values = [value].flat()
    if (!isSendable(name, values)) continue
    sendable[name.toLowerCase()] = Array.isArray(value) ? values.map(String) : String(value)
  }
  return sendable
}

function isSendable(name: string, values: readonly unknown[]): boolean {
  try {
    validateHeaderName(name)
    for (const value of values) validateHeaderValue(name, String(value))
  } catch {
    return false
  }
  return values.length > 0 && values.every(value => writable.has(typeof value)) && !unfit.has(name.toLowerCase())
}
