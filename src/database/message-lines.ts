import type { Socket } from 'node:net'
import { linesOf } from '../lines.ts'

/** In bytes. Longer than any query of a command: an import inserts 5,000 records at once. */
const longestMessage = 2 ** 28

/**
 * Reads messages from a socket, one JSON value a line. Ends without an error with the connection, however that ends, or
 * at a line that is too long or not JSON.
 */
export async function* messagesFrom<Message>(
  socket: Socket,
  longest = longestMessage,
): AsyncGenerator<Message, undefined> {
  try {
    for await (const { bytes, isWhole } of linesOf(socket, longest)) {
      if (!isWhole) return
      yield JSON.parse(bytes.toString())
    }
  } catch {
    // The connection is broken, or the line is not JSON.
  }
}

/** Sends a message as a line of JSON. */
export function sendMessage(socket: Socket, message: object): void {
  socket.write(`${JSON.stringify(message)}\n`)
}
