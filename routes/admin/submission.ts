import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { HttpError } from '../../src/errors/http-errors.ts'
import { etagOf } from '../../src/http/etag.ts'
import type { Content } from '../../src/pages/html.ts'
import type { FieldError } from '../../src/records/validation.ts'
import { textOf } from '../credential-form.ts'
import type { Field } from './fields.ts'
import { isAbout } from './inputs.ts'
import type { Words } from './words.ts'

/** In milliseconds. */
const remembered = 10_000

/**
 * Makes a function that does once what a form asks for, even if it is sent twice, as by a double click. The same form
 * with other entries counts as another. Each server only knows what was sent to itself.
 */
export function makeOnce<Result extends object>() {
  const recent = new LRUCache<string, Promise<Result>>({ max: 1000, ttl: remembered })
  return async function once({ user, url, body }: FastifyRequest, act: () => Promise<Result>): Promise<Result> {
    if (textOf(body, 'form') === '') return await act()
    const key = etagOf(JSON.stringify([user?.id, url, body]))
    const result = recent.get(key) ?? act()
    recent.set(key, result)
    // A refusal is not remembered: what was in the way may be gone at the next attempt.
    result.catch(() => recent.delete(key))
    return await result
  }
}

const correctable = new Set([400, 409, 412, 422])

/**
 * Does what the API does.
 * @returns the result, or the error of what was entered, which a page shows beside it
 */
export async function unlessRefused<Result>(act: () => Promise<Result>): Promise<Result | HttpError> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof HttpError && correctable.has(error.statusCode)) return error
    throw error
  }
}

export function errorsIn(refusal: HttpError | undefined): readonly FieldError[] {
  const errors = refusal?.members?.['errors']
  return Array.isArray(errors) ? errors.map((error: FieldError) => error) : []
}

export function problemOf(words: Words, fields: readonly Field[], refusal: HttpError | undefined): Content {
  const errors = errorsIn(refusal)
  const areBeside = errors.length > 0 && errors.every(error => fields.some(field => isAbout(field, error)))
  return refusal && (areBeside ? words.refused : words.quote(refusal.message))
}
