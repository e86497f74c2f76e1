import { expectedErrors } from '../../src/errors/http-errors.ts'
import { isMissingRoute, missingRoutes } from '../not-found.ts'

/** Has profiles show where expected errors were made, and the error of a missing route. @returns the function that stops it */
export function listenToErrors(): () => void {
  expectedErrors.subscribe(captureStack)
  missingRoutes.subscribe(recordMissingRoute)
  return () => {
    expectedErrors.unsubscribe(captureStack)
    missingRoutes.unsubscribe(recordMissingRoute)
  }
}

/** From where the error's class is called on, as JavaScript does it. */
function captureStack(error: unknown): void {
  if (error instanceof Error) Error.captureStackTrace(error, error.constructor)
}

function recordMissingRoute(message: unknown): void {
  if (isMissingRoute(message)) message.request.recorder?.failing(message.error)
}
