import type { Socket } from 'node:net'

/** In characters. Longer than any query of a command: an import inserts 5,000 records at once. */
const longestMessage = 2 ** 28

/**
 * Reads messages from a socket, one JSON value a line. Ends without an error with the connection, however that ends, or
 * at a line that is too long or not JSON.
 */
export async function* messagesFrom<Message>(
  socket: Socket,
  longest = longestMessage,
): AsyncGenerator<Message, undefined> {
  let text = ''
  try {
    for await (const chunk of socket.setEncoding('utf8')) {
      const [end, ...lines] = String(chunk).split('\n')
      text += end
      for (const line of lines) {
        yield JSON.parse(text)
        text = line
      }
      if (text.length > longest) return
    }
  } catch {
    // The connection is broken, or the line is not JSON.
  }
}

/** Sends a message as a line of JSON. */
export function sendMessage(socket: Socket, message: object): void {
  socket.write(`${JSON.stringify(message)}\n`)
}
