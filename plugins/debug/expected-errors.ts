import { expectedErrors } from '../../src/errors/http-errors.ts'
import { isMissingRoute, missingRoutes } from '../not-found.ts'

/** Adds stacks to expected errors and records the error of a missing route. @returns a function that unsubscribes */
export function listenToErrors(): () => void {
  expectedErrors.subscribe(captureStack)
  missingRoutes.subscribe(recordMissingRoute)
  return () => {
    expectedErrors.unsubscribe(captureStack)
    missingRoutes.unsubscribe(recordMissingRoute)
  }
}

/** Starts the stack at the caller of the error's constructor, as JavaScript does. */
function captureStack(error: unknown): void {
  if (error instanceof Error) Error.captureStackTrace(error, error.constructor)
}

function recordMissingRoute(message: unknown): void {
  if (isMissingRoute(message)) message.request.recorder?.failing(message.error)
}
