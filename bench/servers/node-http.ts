import { createServer } from 'node:http'
import { type Answer, listen } from '../measurable.ts'

/** Node's own server, with the same fixed answer to every request. */
export default async function start({ answer: { status, headers, body } }: { answer: Answer }) {
  const ready = { ...Object.fromEntries(headers), 'content-length': Buffer.byteLength(body) }
  const server = createServer((_request, response) => {
    response.writeHead(status, ready)
    response.end(body)
  })
  return listen(server)
}
