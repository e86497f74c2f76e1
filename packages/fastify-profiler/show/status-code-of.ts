import { propertyOf } from '../base/foreign-value.ts'

/** The status code of an error that refuses a request, such as a hook's of the application. 500 for other errors. */
export function statusCodeOf(error: unknown): number {
  const statusCode = propertyOf(error, 'statusCode')
  const isStatusCode = typeof statusCode === 'number' && statusCode >= 400 && statusCode <= 599
  return isStatusCode ? Math.floor(statusCode) : 500
}
