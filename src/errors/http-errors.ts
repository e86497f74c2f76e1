import { channel } from 'node:diagnostics_channel'

/** What the user can do about an error: a link on its page. */
export interface Remedy {
  text: string
  href: string
}

export type HttpHeaders = Readonly<Record<string, string | string[]>>

export interface HttpErrorOptions extends ErrorOptions {
  headers?: HttpHeaders
  remedy?: Remedy
  /** Extension members of the problem document (RFC 9457, section 3.2). */
  members?: Record<string, unknown>
}

export const noHeaders = Object.freeze({})

/** Publishes each expected error when it is created. Subscribers may capture the stack, which it lacks. */
export const expectedErrors = channel('portico:expected-error')

/** An error in normal operation, such as a 404. It has no stack, because its log line does not show one. */
class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions, isExpected = true) {
    const { stackTraceLimit } = Error
    if (isExpected) Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = stackTraceLimit
    if (isExpected && expectedErrors.hasSubscribers) expectedErrors.publish(this)
  }
}

/** An error for the client: the response has its status, message and headers. */
export class HttpError extends ExpectedError {
  readonly statusCode: number
  readonly headers: HttpHeaders
  readonly remedy: Remedy | undefined
  readonly members: Readonly<Record<string, unknown>> | undefined

  constructor(statusCode: number, message: string, options: HttpErrorOptions = {}) {
    super(message, options, statusCode < 500 || statusCode === 503)
    this.name = new.target.name
    this.statusCode = statusCode
    this.headers = options.headers ?? noHeaders
    this.remedy = options.remedy
    this.members = options.members
  }
}

export class BadRequestHttpError extends HttpError {
  constructor(message: string, options?: HttpErrorOptions) {
    super(400, message, options)
  }
}

export class UnauthorizedHttpError extends HttpError {
  /**
   * The challenge follows draft-broyer-http-cookie-auth, which says where to get a cookie. No registered scheme covers
   * cookies.
   * @param realm the domain to sign in to
   * @param href the sign-in page
   */
  constructor(message: string, realm: string, href = '/login') {
    super(401, message, {
      headers: { 'www-authenticate': `Cookie realm="${realm}", form-action="/login"` },
      remedy: { text: 'Sign in', href },
    })
  }
}

export class ForbiddenHttpError extends HttpError {
  constructor(message: string, options?: HttpErrorOptions) {
    super(403, message, options)
  }
}

/** The user is signed in, but the license does not admit them. */
export class NotAdmittedHttpError extends ForbiddenHttpError {
  /** @param href the page to sign in or out */
  constructor(email: string, href: string) {
    super(`You are signed in as ${email}, but you may not enter this site.`, {
      remedy: { text: 'Sign in as someone else or sign out', href },
    })
  }
}

export class NotFoundHttpError extends HttpError {
  constructor(message: string, options?: ErrorOptions) {
    super(404, message, options)
  }
}

export class LicenseNotFoundHttpError extends NotFoundHttpError {
  constructor(domain: string) {
    super(`No license found for "${domain}".`)
  }
}

export class MethodNotAllowedHttpError extends HttpError {
  /** @param allow the methods that the path's routes declare */
  constructor(message: string, allow: readonly string[]) {
    super(405, message, { headers: { allow: allow.join(', ') } })
  }
}

/** The change conflicts with existing records, or would break references to the record. */
export class ConflictHttpError extends HttpError {
  constructor(message: string, options?: HttpErrorOptions) {
    super(409, message, options)
  }
}

/** The client's copy is out of date. */
export class PreconditionFailedHttpError extends HttpError {
  constructor(message: string) {
    super(412, message)
  }
}

/** The record is well-formed, but refers to one that does not exist. */
export class UnprocessableContentHttpError extends HttpError {
  constructor(message: string, options?: HttpErrorOptions) {
    super(422, message, options)
  }
}

export class TooManyRequestsHttpError extends HttpError {
  /** @param retryAfter in seconds */
  constructor(message: string, retryAfter: number) {
    super(429, message, { headers: { 'retry-after': String(retryAfter) } })
  }
}

/** The database is unavailable, or the server is overloaded. Trying again later helps. */
export class ServiceUnavailableHttpError extends HttpError {
  /** @param retryAfter in seconds */
  constructor(message: string, retryAfter: number, options?: ErrorOptions) {
    super(503, message, { ...options, headers: { 'retry-after': String(retryAfter) } })
  }
}

/** The cause of a NotFoundHttpError: what the router reported (interface specification, "Errors"). */
export class RouteResourceNotFoundError extends ExpectedError {
  override readonly name = 'RouteResourceNotFoundError'
}
