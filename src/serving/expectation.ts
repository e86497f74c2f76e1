import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerFailure } from '../errors/error-answer.ts'

/** Answers a request that expects what no server here does: Node shows it to nobody else. */
export function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  const { statusCode, headers, body } = answerFailure(
    417,
    'Only "100-continue" can be expected.',
    { vary: 'Accept' },
    request.headers.accept,
  )
  response.writeHead(statusCode, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}
