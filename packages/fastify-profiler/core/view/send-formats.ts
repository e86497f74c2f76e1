import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'

const types = { 'application/json': 'json', 'text/html': 'html', 'text/markdown': 'markdown' } as const

/** The formats of every page. */
type Form = (typeof types)[keyof typeof types]

/** The format that a client prefers; one that accepts anything (curl) gets JSON. */
export function preferredForm(raw: IncomingMessage): Form {
  const [best] = new Negotiator(raw).mediaTypes(Object.keys(types))
  return best === 'text/html' || best === 'text/markdown' ? types[best] : 'json'
}

/** A page in its three formats. */
interface Formats {
  html: () => string
  json: () => unknown
  markdown: () => string
}

/** Sends a page in the format that the client prefers. */
export function sendFormats(request: FastifyRequest, reply: FastifyReply, page: Formats): FastifyReply {
  const form = preferredForm(request.raw)
  if (form === 'html') return reply.type('text/html; charset=utf-8').send(page.html())
  if (form === 'markdown') return reply.type('text/markdown; charset=utf-8').send(page.markdown())
  return reply.type('application/json; charset=utf-8').send(`${JSON.stringify(page.json())}\n`)
}
