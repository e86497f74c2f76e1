import type { FastifyInstance } from 'fastify'
import Negotiator from 'negotiator'
import { isSameOrigin, pageGuard, statusCodeOf, takeText } from '../../core/view/page-guard.ts'
import type { ViewerAccess } from '../../core/view/viewer-access.ts'
import { serverId } from '../home/live-rows.ts'
import type { AskedSources } from './question.ts'

export interface McpRoutesOptions extends AskedSources {
  access: ViewerAccess
}

/** Bytes of one message. */
const messageMost = 64 * 1024

/**
 * The Model Context Protocol for agents, at one path and without sessions. Its code is loaded when it is first asked.
 * Clients that may not see the pages do not find it, and pages of other origins are refused.
 */
export async function mcpRoutes(app: FastifyInstance, { access, ...sources }: McpRoutesOptions): Promise<void> {
  const path = `${sources.base}/mcp`
  app.addHook('onRequest', pageGuard(access))
  app.addHook('onRequest', serverId(sources.archive))
  app.setErrorHandler(function messageFailed(error, request, reply) {
    const statusCode = statusCodeOf(error)
    if (statusCode >= 500) request.log.error(error, 'The profiler failed to read a message')
    const message = refusals[statusCode] ?? `The message was refused with the status ${statusCode}.`
    const answer = { jsonrpc: '2.0', error: { code: -32600, message } }
    // As text, since the application may serialise objects in its own way.
    return reply.code(statusCode).type('application/json; charset=utf-8').send(JSON.stringify(answer))
  })
  takeText(app, 'application/json', messageMost)

  app.post(path, async function answerAgent({ body, headers, log, raw }, reply) {
    const isBrowser = 'origin' in headers || 'sec-fetch-site' in headers
    if (isBrowser && !isSameOrigin(raw)) return reply.code(403).type('text/plain').send('Sent by another site.\n')
    if (new Negotiator(raw).mediaTypes(['application/json']).length === 0) {
      return reply.code(406).type('text/plain').send('Answers are application/json.\n')
    }
    const { answerMessage } = await import('./mcp-messages.ts')
    const { ask } = await import('./questions.ts')
    const { status, message } = await answerMessage(String(body), headers, {
      ask: (question, given) => ask(question, given, sources),
      complain: error => log.error(error, 'The profiler failed to answer an agent'),
    })
    if (message === null) return reply.code(status).send()
    return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(message))
  })

  // `<base>/:token` would take this path for a token.
  app.get(path, async function refuseStream(_request, reply) {
    return reply.code(405).header('allow', 'POST').type('text/plain').send('Send messages by POST.\n')
  })
}

const refusals: Record<number, string> = {
  413: `A message has at most ${messageMost} bytes.`,
  415: 'A message is application/json.',
}
