import Fastify, { type FastifyReply } from 'fastify'
import { type Answer, listenWith } from '../measurable.ts'

/** Bare Fastify: a route or a not-found handler with a fixed answer. */
export default async function start({ answer: { status, headers, body } }: { answer: Answer }) {
  const app = Fastify()
  const content: unknown = status === 200 ? JSON.parse(body) : body

  app.get('/opening', async function showOpening(_request, reply) {
    return answerWith(reply)
  })
  app.get('/visitor', async function showVisitor(_request, reply) {
    return answerWith(reply)
  })
  app.setNotFoundHandler(function answerNotFound(_request, reply) {
    answerWith(reply)
  })
  return listenWith(app)

  function answerWith(reply: FastifyReply): FastifyReply {
    reply.code(status)
    for (const [name, value] of headers) reply.header(name, value)
    return reply.send(content)
  }
}
