import { channel } from 'node:diagnostics_channel'
import type { VisitorWords } from '../pages/visitor-words.ts'
import { program } from '../program.ts'
import type { Closure } from '../records/closure.ts'

/** What the user can do about an error: a link on its page. */
export interface Remedy {
  /** A text, or a function that takes it from the words of the visitor's language. */
  text: string | ((words: VisitorWords) => string)
  href: string
}

/** What the operator can do about an error: a sentence, and commands below it. */
export interface Hint {
  text: string
  commands: readonly string[]
}

export type HttpHeaders = Readonly<Record<string, string | string[]>>

export interface HttpErrorOptions extends ErrorOptions {
  headers?: HttpHeaders
  /** Default: a link to the front page. Null if no page helps. */
  remedy?: Remedy | null
  hint?: Hint | undefined
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
  readonly remedy: Remedy | null | undefined
  readonly hint: Hint | undefined
  readonly members: Readonly<Record<string, unknown>> | undefined

  constructor(statusCode: number, message: string, options: HttpErrorOptions = {}) {
    super(message, options, statusCode < 500 || statusCode === 503)
    this.name = new.target.name
    this.statusCode = statusCode
    this.headers = options.headers ?? noHeaders
    this.remedy = options.remedy
    this.hint = options.hint
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
   * @param acceptsTokens whether an API token would do, too
   */
  constructor(message: string, realm: string, href = '/login', acceptsTokens = false) {
    const cookie = `Cookie realm="${realm}", form-action="/login"`
    super(401, message, {
      headers: { 'www-authenticate': acceptsTokens ? `${cookie}, Bearer realm="${realm}"` : cookie },
      remedy: { text: words => words.signIn, href },
    })
  }
}

export class InvalidTokenHttpError extends HttpError {
  constructor(message: string, realm: string) {
    super(401, message, { headers: challenge(realm, 'invalid_token') })
  }
}

/** The request's API token is valid, but may not make this request. */
export class InsufficientScopeHttpError extends HttpError {
  constructor(message: string, realm: string) {
    super(403, message, { headers: challenge(realm, 'insufficient_scope') })
  }
}

/** The request has credentials in more than one place. */
export class RepeatedCredentialsHttpError extends HttpError {
  constructor(message: string, realm: string) {
    super(400, message, { headers: challenge(realm, 'invalid_request') })
  }
}

/** RFC 6750, section 3. */
function challenge(realm: string, error: 'invalid_request' | 'invalid_token' | 'insufficient_scope'): HttpHeaders {
  return { 'www-authenticate': `Bearer realm="${realm}", error="${error}"` }
}

export class ForbiddenHttpError extends HttpError {
  constructor(message: string, options?: HttpErrorOptions) {
    super(403, message, options)
  }
}

/** The user is signed in, but the license does not admit them. */
export class NotAdmittedHttpError extends ForbiddenHttpError {
  constructor(email: string, href: string) {
    super(`You are signed in as ${email}, but you may not enter this site.`, {
      remedy: { text: words => words.signInAsOther, href },
    })
  }
}

export class NotFoundHttpError extends HttpError {
  constructor(message: string, options?: HttpErrorOptions) {
    super(404, message, options)
  }
}

export class LicenseNotFoundHttpError extends NotFoundHttpError {
  /** @param isLocal whether the client is on this machine, and so may be the operator */
  constructor(domain: string, isLocal: boolean) {
    super(`No license found for "${domain}".`, { remedy: null, hint: isLocal ? howToLicense(domain) : undefined })
  }
}

function howToLicense(domain: string): Hint {
  return {
    text: 'Add a license to serve a site here. The last command adds sites to try instead, localhost among them.',
    commands: [
      `${program} license-type add --type standard`,
      `${program} license add --domain "${domain}" --name "My Museum" --type standard`,
      `${program} seed`,
    ],
  }
}

export class MethodNotAllowedHttpError extends HttpError {
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

/** The license is not valid now, so that only admins see the site. */
export class SiteClosedHttpError extends HttpError {
  readonly closure: Closure
  readonly signIn: string

  constructor(message: string, closure: Closure, signIn: string) {
    // In seconds and not as a date, so that the client's clock does not matter (RFC 9110, section 10.2.3).
    const opensIn = closure.reason === 'asleep' ? Math.ceil((closure.until.getTime() - Date.now()) / 1000) : undefined
    const headers = opensIn === undefined ? noHeaders : { 'retry-after': String(opensIn) }
    super(closure.reason === 'ended' ? 410 : 503, message, { headers })
    this.closure = closure
    this.signIn = signIn
  }
}

/** The cause of a NotFoundHttpError: what the router reported (interface specification, "Errors"). */
export class RouteResourceNotFoundError extends ExpectedError {
  override readonly name = 'RouteResourceNotFoundError'
}
