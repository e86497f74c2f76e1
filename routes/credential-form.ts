import { parse } from 'node:querystring'
import formbody from '@fastify/formbody'
import { Ajv, type Format } from 'ajv'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorForm, toError } from '../src/errors/error-answer.ts'
import { HttpError, TooManyRequestsHttpError } from '../src/errors/http-errors.ts'
import { sendError } from '../src/errors/send-error.ts'

/** The most that a form of credentials may have, in bytes. */
export const bodyLimit = 16 * 1024

/**
 * Lets the routes of a plugin take their bodies as forms or JSON.
 * @param formats of text fields, besides those of JSON Schema
 */
export async function takeForms(app: FastifyInstance, formats: Record<string, Format> = {}): Promise<void> {
  await app.register(formbody, { bodyLimit, parser: parseForm })
  // An Ajv without coercion: Fastify's own would accept ["secret"] as a password.
  const ajv = new Ajv({ formats })
  app.setValidatorCompiler<object>(({ schema }) => ajv.compile(schema))
  app.removeContentTypeParser('text/plain')
}

/** Parses a form. Bytes that are not UTF-8 become replacement characters, which no field accepts. */
export function parseForm(body: string) {
  return parse(body, '&', '=', { maxKeys: 0 })
}

/** Whether the request's body is a form, as browsers send it without JavaScript. */
export function isForm({ mediaType }: Pick<FastifyRequest, 'mediaType'>): boolean {
  return mediaType === 'application/x-www-form-urlencoded'
}

/** A field of a body, or an empty string if it is not text. */
export function textOf(body: unknown, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  return typeof value === 'string' ? value : ''
}

/** Sends a page. No cache may keep it, because it has what was entered. */
export function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).send(page)
}

/**
 * Refuses what was entered. A browser gets the form again.
 * @param sendFormAgain called after the error's status and headers are set
 * @throws {HttpError} the error, for other clients
 */
export function refuse(
  error: HttpError,
  request: FastifyRequest,
  reply: FastifyReply,
  sendFormAgain: () => FastifyReply,
): FastifyReply {
  reply.varyOn('Accept')
  // Not thrown for a browser, which gets the form again even with DEBUG=1.
  if (errorForm(request.headers.accept) !== 'text/html') throw error
  reply.code(error.statusCode).headers(error.headers)
  return sendFormAgain()
}

/** Makes an error handler by which a browser gets the form again if it was incomplete or sent too often. */
export function answerWithForm(
  sendFormAgain: (problem: 'incomplete' | 'tooMany', request: FastifyRequest, reply: FastifyReply) => FastifyReply,
) {
  return function answerWithForm(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    reply.varyOn('Accept')
    const error = toError(thrown)
    const isIncomplete = thrown instanceof Error && 'validation' in thrown
    const problem = thrown instanceof TooManyRequestsHttpError ? 'tooMany' : isIncomplete ? 'incomplete' : undefined
    if (problem === undefined || !(error instanceof HttpError) || errorForm(request.headers.accept) !== 'text/html') {
      return sendError(thrown, request, reply)
    }
    return refuse(error, request, reply, () => sendFormAgain(problem, request, reply))
  }
}
