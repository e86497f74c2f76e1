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
