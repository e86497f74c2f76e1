import type { IncomingMessage } from 'node:http'
import Negotiator from 'negotiator'

const types = { 'application/json': 'json', 'text/html': 'html', 'text/markdown': 'markdown' } as const

/** The formats of every page. */
export type Form = (typeof types)[keyof typeof types]

/** The format that a client prefers; one that accepts anything (curl) gets JSON. */
export function preferredForm(raw: IncomingMessage): Form {
  const [best] = new Negotiator(raw).mediaTypes(Object.keys(types))
  return best === 'text/html' || best === 'text/markdown' ? types[best] : 'json'
}

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
