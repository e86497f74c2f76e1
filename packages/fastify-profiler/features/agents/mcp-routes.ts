import type { FastifyInstance, FastifyReply, RouteShorthandOptions } from 'fastify'
import Negotiator from 'negotiator'
import type { PageSources } from '../../core/feature.ts'
import { isSameOrigin, statusCodeOf } from '../../core/view/page-guard.ts'
import { serverId } from '../home/live-rows.ts'
import { ask } from '../home/question.ts'

/** Bytes of one message. */
const messageMost = 64 * 1024

/**
 * The Model Context Protocol for agents, at one path and without sessions. Its code is loaded when it is first asked.
 * Pages of other origins are refused.
 */
export function mcpRoutes(app: FastifyInstance, sources: PageSources): void {
  const path = `${sources.base}/mcp`
  const options: RouteShorthandOptions = {
    bodyLimit: messageMost,
    onRequest: serverId(sources.store),
    errorHandler(error, request, reply) {
      const statusCode = statusCodeOf(error)
      if (statusCode >= 500) request.log.error(error, 'The profiler failed to read a message')
      const tooLong = statusCode === 413 ? `A message has at most ${messageMost} bytes.` : null
      return refuse(reply, statusCode, tooLong ?? `The message was refused with the status ${statusCode}.`)
    },
  }

  app.post(path, options, async function answerAgent({ body, headers, log, raw }, reply) {
    const isBrowser = 'origin' in headers || 'sec-fetch-site' in headers
    if (isBrowser && !isSameOrigin(raw)) return reply.code(403).type('text/plain').send('Sent by another site.\n')
    if (new Negotiator(raw).mediaTypes(['application/json']).length === 0) {
      return reply.code(406).type('text/plain').send('Answers are application/json.\n')
    }
    if (!/^application\/json *(?:;|$)/i.test(headers['content-type'] ?? '')) {
      return refuse(reply, 415, 'A message is application/json.')
    }
    const { answerMessage } = await import('./mcp-messages.ts')
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

function refuse(reply: FastifyReply, statusCode: number, message: string): FastifyReply {
  const answer = { jsonrpc: '2.0', error: { code: -32600, message } }
  // As text, since the application may serialise objects in its own way.
  return reply.code(statusCode).type('application/json; charset=utf-8').send(JSON.stringify(answer))
}
