import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { attempt, propertyOf } from '../foreign-value.ts'
import { requestHost } from '../urls.ts'
import { untraced } from '../watch/traced-call.ts'
import { profilerPolicy } from './page.ts'
import type { ViewerAccess } from './viewer-access.ts'

/** The hook of the profiler's pages. For clients without access they are unknown paths. */
export function pageGuard(access: ViewerAccess): onRequestAsyncHookHandler {
  return untraced(async function guardProfiler(request: FastifyRequest, reply: FastifyReply) {
    const verdict = await access.judge(request.raw)
    if (verdict === 'address') return reply.callNotFound()
    addHeaders(reply)
    if (verdict === 'host') {
      return reply
        .code(403)
        .type('text/plain; charset=utf-8')
        .send(
          'The profiler does not trust this host name. ' +
            'Use localhost or an IP address, or add the name to the option trustedHosts.\n',
        )
    }
  })
}

/** Headers of every page: no inline code, no framing, no caching, no indexing. */
function addHeaders(reply: FastifyReply): void {
  reply.headers({
    'content-security-policy': profilerPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    'cache-control': 'no-store',
    vary: 'accept',
  })
}

/** Takes bodies as text, since the application's own parsers may refuse or change them. @param most in bytes */
export function takeText(app: FastifyInstance, contentType: string, most: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(contentType, { parseAs: 'string', bodyLimit: most }, (_request, body, done) => {
    done(null, body)
  })
}

/**
 * Whether a page of this very origin sent a request. Browsers say so themselves; older ones name the page's origin,
 * whose host must be the one that was asked for.
 */
export function isSameOrigin(raw: IncomingMessage): boolean {
  const { origin, 'sec-fetch-site': site } = raw.headers
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined) return false
  return attempt(() => new URL(origin).host, null) === requestHost(raw)
}

/** The status code of an error that refuses a request, such as a hook's of the application. 500 for other errors. */
export function statusCodeOf(error: unknown): number {
  const statusCode = propertyOf(error, 'statusCode')
  const isStatusCode = typeof statusCode === 'number' && statusCode >= 400 && statusCode <= 599
  return isStatusCode ? Math.floor(statusCode) : 500
}

/** The query of a request, whatever parser the application has set for it. */
export function queryOf(request: FastifyRequest): URLSearchParams {
  const { url = '' } = request.raw
  const start = url.indexOf('?')
  return new URLSearchParams(start === -1 ? '' : url.slice(start + 1))
}
