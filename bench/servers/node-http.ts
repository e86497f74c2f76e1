import { createServer } from 'node:http'
import { type Answer, listen } from '../server.ts'

/** Node's own server: one answer, ready-made, to whatever is asked. */
export default async function start({ answer: { status, headers, body } }: { answer: Answer }) {
  const ready = { ...Object.fromEntries(headers), 'content-length': Buffer.byteLength(body) }
  return listen(
    createServer((_request, response) => {
      response.writeHead(status, ready)
      response.end(body)
    }),
  )
}
