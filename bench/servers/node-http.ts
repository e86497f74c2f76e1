import { createServer } from 'node:http'
import { type Answer, listen } from '../measurable.ts'

interface Options {
  answer: Answer
  /** The server's timeout in milliseconds. Default: Node's, which is none. */
  timeout?: number
}

/** Node's own server, with the same fixed answer to every request. */
export default async function start({ answer: { status, headers, body }, timeout = 0 }: Options) {
  const ready = { ...Object.fromEntries(headers), 'content-length': Buffer.byteLength(body) }
  const server = createServer((_request, response) => {
    response.writeHead(status, ready)
    response.end(body)
  })
  server.timeout = timeout
  return listen(server)
}
