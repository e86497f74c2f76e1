import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { HttpHeaders } from './http-errors.ts'

/** What would be said of a body, or of its way, that the error's answer does not have. */
const unfit = new Set(['content-encoding', 'content-length', 'etag', 'last-modified', 'trailer', 'transfer-encoding'])

/** What Node would write, and not as "[object Object]". */
const writable = new Set(['string', 'number', 'boolean'])

/**
 * Those of an error's headers that its answer can be sent with, by their lower-cased names: anything may be thrown,
 * and one header that Node refuses would cost the client the whole answer.
 */
export function sendableHeaders(headers: unknown): HttpHeaders {
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
