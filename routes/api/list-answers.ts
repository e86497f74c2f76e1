import type { TSchema } from 'typebox'
import { unchanged } from './answers.ts'
import { closed, malformed, notAdmitted, tooManyTokens, unavailable } from './problems.ts'

/** The answers of a list, by their status. @param page the schema of the answer with a page */
export function listAnswers<Page extends TSchema>(page: Page) {
  return {
    200: page,
    304: unchanged,
    ...malformed('The query', 'limit', 'must be <= 200'),
    ...notAdmitted,
    ...closed,
    ...tooManyTokens,
    ...unavailable,
  }
}
