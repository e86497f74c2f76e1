import formbody from '@fastify/formbody'
import { Ajv, type Format } from 'ajv'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** The most that a form of credentials may have, in bytes. */
export const bodyLimit = 16 * 1024

/**
 * Lets the routes of a plugin take their bodies as forms or JSON.
 * @param formats of text fields, besides those of JSON Schema
 */
export async function takeForms(app: FastifyInstance, formats: Record<string, Format> = {}): Promise<void> {
  await app.register(formbody, { bodyLimit })
  // An Ajv without coercion: Fastify's own would accept ["secret"] as a password.
  const ajv = new Ajv({ formats })
  app.setValidatorCompiler<object>(({ schema }) => ajv.compile(schema))
  app.removeContentTypeParser('text/plain')
}

/** Whether the request's body is a form, as browsers send it without JavaScript. */
export function isForm({ mediaType }: Pick<FastifyRequest, 'mediaType'>): boolean {
  return mediaType === 'application/x-www-form-urlencoded'
}
