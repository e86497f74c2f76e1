import { isObject } from '../base/foreign-value.ts'
import { setMethod } from './set-method.ts'

/** A web ReadableStream, which reports its failure only to its reader. */
interface WebStream {
  getReader(): { readonly closed: Promise<unknown> }
}

/**
 * Calls `failed` if the payload is a web stream, or a Response with one, and that fails.
 * @returns whether the payload is one of these
 */
export function watchWebStream(payload: object, failed: (error: unknown) => void): boolean {
  // Checked as Fastify does: mentioning the class Response makes Node load all of fetch.
  if ('body' in payload && Object.prototype.toString.call(payload) === '[object Response]') {
    return isObject(payload.body) && watchWebStream(payload.body, failed)
  }
  if (!isWebStream(payload)) return false
  const { getReader } = payload
  setMethod(payload, 'getReader', function (this: WebStream, ...args: Parameters<typeof getReader>) {
    const reader = getReader.apply(this, args)
    reader.closed.catch(failed)
    return reader
  })
  return true
}

function isWebStream(value: object): value is WebStream {
  return 'getReader' in value && typeof value.getReader === 'function'
}
