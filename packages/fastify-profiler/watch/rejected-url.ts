import { attempt } from '../base/foreign-value.ts'
import { pathOfUrl } from '../base/request-path.ts'

/** Fastify's error for a URL that its router does not take. Fastify makes none if nobody handles it. */
class RejectedUrlError extends Error {
  override readonly name = 'FastifyError'
  readonly code: string
  readonly statusCode: number

  constructor(code: string, message: string, statusCode: number) {
    super(message)
    this.code = code
    this.statusCode = statusCode
  }
}

/** Why the router rejects a URL; null if it is for another reason than the URL. */
export function rejectionOf(url: string, longestParameter: number): Error | null {
  const path = pathOfUrl(url)
  const decoded = attempt(() => decodeURIComponent(path), null)
  if (decoded === null) return new RejectedUrlError('FST_ERR_BAD_URL', `'${path}' is not a valid url component`, 400)
  if (path.split('/').every(({ length }) => length <= longestParameter)) return null
  return new RejectedUrlError('FST_ERR_MAX_PARAM_LENGTH', `'${path}' is exceeding the max param length`, 414)
}
