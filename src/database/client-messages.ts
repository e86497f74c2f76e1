/** In bytes. A message of 110 MB or more would end the process if PostgreSQL logged it as one line. */
const longestMessage = 64 * 1024 * 1024
/** Sent after each message: PGlite dies of a COPY FROM STDIN without data. PostgreSQL ignores it anywhere else. */
const noData = makeMessage('f', 'this connection takes no data\0')

/**
 * Cuts what a command sends into messages of PostgreSQL's protocol, because PGlite takes only whole ones.
 * @param refuse called with the reason if a message is too long; no further message follows
 */
export async function* wholeMessages(
  chunks: AsyncIterable<Buffer>,
  refuse: (reason: string) => void,
): AsyncGenerator<Buffer> {
  let received: Buffer[] = []
  let size = 0
  let lengthAt = 0
  let needed = 4
  for await (const chunk of chunks) {
    received.push(chunk)
    size += chunk.length
    // Joined only once there is enough: joining them at each chunk would take quadratic time.
    if (size < needed) continue
    let rest = Buffer.concat(received)
    while (rest.length >= needed) {
      const length = rest.readUInt32BE(lengthAt)
      if (length > longestMessage) return refuse(`a query has ${length} bytes, and may have up to ${longestMessage}`)
      needed = lengthAt + length
      if (rest.length < needed) break
      const message = rest.subarray(0, needed)
      // The first message has no type.
      yield lengthAt === 0 ? message : Buffer.concat([message, noData])
      rest = rest.subarray(needed)
      lengthAt = 1
      needed = 5
    }
    received = [rest]
    size = rest.length
  }
}

/** Makes a message of PostgreSQL's protocol. */
export function makeMessage(type: string, body: string): Buffer {
  const head = Buffer.from(`${type}....`)
  head.writeUInt32BE(4 + Buffer.byteLength(body), type.length)
  return Buffer.concat([head, Buffer.from(body)])
}
