/** A stream of the web's, which keeps its failure to whoever reads it. */
interface WebStream {
  getReader(): { readonly closed: Promise<unknown> }
}

/** Tells of the failure of an answer's payload, if it is a stream of the web's or a Response with one. */
export function watchWebStream(payload: unknown, failed: (error: unknown) => void): void {
  if (typeof payload !== 'object' || payload === null) return
  // As Fastify asks: Node loads all of fetch for whoever mentions its class.
  if ('body' in payload && Object.prototype.toString.call(payload) === '[object Response]') {
    return watchWebStream(payload.body, failed)
  }
  if (!isWebStream(payload)) return
  const { getReader } = payload
  payload.getReader = function (...args) {
    const reader = getReader.apply(this, args)
    reader.closed.catch(failed)
    return reader
  }
}

function isWebStream(value: object): value is WebStream {
  return 'getReader' in value && typeof value.getReader === 'function'
}
