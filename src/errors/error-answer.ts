import { STATUS_CODES } from 'node:http'
import { negotiateType } from '../negotiation.ts'
import { renderErrorPage } from './error-page.ts'
import { BadRequestHttpError, HttpError } from './http-errors.ts'

const negotiate = negotiateType(['application/problem+json', 'application/json', 'text/html', 'text/plain'])

/** What a client is sent for an error. */
export interface ErrorAnswer {
  statusCode: number
  headers: Readonly<Record<string, string>>
  body: string
}

/** So that whoever asks twice is told of one error, with the stack of where it was first asked. */
const malformed = new WeakMap<Error, BadRequestHttpError>()

/**
 * Whatever was thrown as the error that the client is told of: a malformed request's own error becomes the cause of
 * a BadRequestHttpError (interface specification, "Errors"), what is no error becomes one.
 */
export function toError (thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error(`Thrown: ${String(thrown)}`)
  if (thrown instanceof HttpError || statusOf(thrown) !== 400) return thrown
  const error = malformed.get(thrown) ?? new BadRequestHttpError(thrown.message, { cause: thrown })
  malformed.set(thrown, error)
  return error
}

/** The status of an error: its statusCode, where that says that it is one; else 500. */
export function statusOf (error: Error): number {
  const statusCode = 'statusCode' in error ? Number(error.statusCode) : NaN
  return Number.isInteger(statusCode) && statusCode >= 400 && statusCode < 600 ? statusCode : 500
}

/** @param accept the request's Accept header */
export function answerError (error: Error, accept: string | undefined): ErrorAnswer {
  const statusCode = statusOf(error)
  const title = STATUS_CODES[statusCode] ?? 'Unknown Error'
  const detail = statusCode < 500 ? error.message : 'Internal Server Error'
  const headers = { ...(error instanceof HttpError && error.headers), 'cache-control': 'no-store', 'content-language': 'en', 'x-content-type-options': 'nosniff' }
  switch (negotiate(accept)) {
    case 'text/html':
      return { statusCode, headers: { ...headers, 'content-type': 'text/html; charset=utf-8' }, body: renderErrorPage(statusCode, title, detail) }
    case 'text/plain':
      return { statusCode, headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' }, body: `${onOneLine(detail)}\n` }
    default: {
      const problem = { type: 'about:blank', title, status: statusCode, detail }
      return { statusCode, headers: { ...headers, 'content-type': 'application/problem+json; charset=utf-8' }, body: JSON.stringify(problem) }
    }
  }
}

function onOneLine (text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}
