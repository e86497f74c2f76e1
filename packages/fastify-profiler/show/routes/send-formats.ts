import type { FastifyReply, FastifyRequest } from 'fastify'
import { preferredForm } from '../preferred-form.ts'

/** A page in its three formats. */
export interface Formats {
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
