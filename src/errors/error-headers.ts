import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { HttpHeaders } from './http-errors.ts'

/** Headers that describe another body or its transfer. */
const unfit = new Set(['content-encoding', 'content-length', 'etag', 'last-modified', 'trailer', 'transfer-encoding'])

/** Types that Node can write as text. */
const writable = new Set(['string', 'number', 'boolean'])

/**
 * The headers of an error that can be sent, with names in lower case. Any value may be thrown, and a single header that
 * Node rejects would prevent the whole response.
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
