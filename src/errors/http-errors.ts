import { channel } from 'node:diagnostics_channel'

/** What somebody can do about an error: a link on its page. */
export interface Remedy {
  text: string
  href: string
}

export type HttpHeaders = Readonly<Record<string, string | string[]>>

export interface HttpErrorOptions extends ErrorOptions {
  headers?: HttpHeaders
  remedy?: Remedy
  /** Further members of the problem that a program is told (RFC 9457, section 3.2). */
  members?: Record<string, unknown>
}

export const noHeaders = Object.freeze({})

/** Tells of each expected error as it is made: whoever listens may capture the stack that it goes without. */
export const expectedErrors = channel('portico:expected-error')

/** An error that is an answer, and no accident. The log has one line of it, so that no stack is captured for it. */
class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions, isExpected = true) {
    const { stackTraceLimit } = Error
    if (isExpected) Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = stackTraceLimit
    if (isExpected && expectedErrors.hasSubscribers) expectedErrors.publish(this)
  }
}

/** An error that the client is told of: its message is shown, and its headers are sent. */
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
   * The challenge is that of draft-broyer-http-cookie-auth: no registered scheme is about cookies, and this one says
   * where to get one.
   * @param realm the domain to sign in to
   * @param href where a browser signs in
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

/** Somebody is signed in whom the license does not let in. */
export class NotAdmittedHttpError extends ForbiddenHttpError {
  /** @param href where to sign in or out */
  constructor(email: string, href: string) {
    super(`You are signed in as ${email}, who may not enter this site.`, {
      remedy: { text: 'Sign in as somebody else, or sign out', href },
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

/** What is to be written stands against what is there already, or would break what refers to it. */
export class ConflictHttpError extends HttpError {
  constructor(message: string, options?: HttpErrorOptions) {
    super(409, message, options)
  }
}

/** The client's copy is not the current one. */
export class PreconditionFailedHttpError extends HttpError {
  constructor(message: string) {
    super(412, message)
  }
}

/** What is to be written is well-formed, and refers to what does not exist. */
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

/** Something that every request needs is missing, or too many are under way: it is nobody's mistake, and passes. */
export class ServiceUnavailableHttpError extends HttpError {
  /** @param retryAfter in seconds */
  constructor(message: string, retryAfter: number, options?: ErrorOptions) {
    super(503, message, { ...options, headers: { 'retry-after': String(retryAfter) } })
  }
}

/** What lies beneath a NotFoundHttpError: the router's own finding (interface specification, "Errors"). */
export class RouteResourceNotFoundError extends ExpectedError {
  override readonly name = 'RouteResourceNotFoundError'
}
