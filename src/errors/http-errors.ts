/** An error that the client is told of: its message is shown, and its headers are sent. */
export class HttpError extends Error {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>

  constructor (statusCode: number, message: string, options: ErrorOptions & { headers?: Record<string, string> } = {}) {
    super(message, options)
    this.name = new.target.name
    this.statusCode = statusCode
    this.headers = options.headers ?? {}
  }
}

export class BadRequestHttpError extends HttpError {
  constructor (message: string, options?: ErrorOptions) {
    super(400, message, options)
  }
}

export class UnauthorizedHttpError extends HttpError {
  /** @param challenge the WWW-Authenticate header (RFC 9110, section 11.6.1) */
  constructor (message: string, challenge: string) {
    super(401, message, { headers: { 'www-authenticate': challenge } })
  }
}

export class ForbiddenHttpError extends HttpError {
  constructor (message: string) {
    super(403, message)
  }
}

export class NotFoundHttpError extends HttpError {
  constructor (message: string, options?: ErrorOptions) {
    super(404, message, options)
  }
}

export class LicenseNotFoundHttpError extends NotFoundHttpError {
  constructor (domain: string) {
    super(`No license found for "${domain}".`)
  }
}

export class MethodNotAllowedHttpError extends HttpError {
  /** @param allow the methods that the path's routes declare */
  constructor (message: string, allow: readonly string[]) {
    super(405, message, { headers: { allow: allow.join(', ') } })
  }
}

/** What lies beneath a NotFoundHttpError: the router's own finding (interface specification, "Errors"). */
export class RouteResourceNotFoundError extends Error {
  override readonly name = 'RouteResourceNotFoundError'
}
