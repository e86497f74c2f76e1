import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { ViewerAccess } from '../viewer-access.ts'
import { profilerPolicy } from '../parts/content-security-policy.ts'
import { untraced } from '../../watch/traced-function.ts'

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
