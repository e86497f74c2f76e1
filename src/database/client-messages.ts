/** In bytes. A message of 110 MB or more would end the process if PostgreSQL logged it as one line. */
const longestMessage = 64 * 1024 * 1024
/** PostgreSQL's own limit for the first message, and for messages that contain little more than names. */
const longestShortMessage = 10_000

/** The greatest length of each type of message that PostgreSQL accepts from a client. The first message has no type. */
const longestOf = new Map<string, number>([
  ...Array.from('BFPQXd', type => [type, longestMessage] as const),
  ...['', ...'CDEHScf'].map(type => [type, longestShortMessage] as const),
])

/** Replaces a client's first message: a malformed one would end PGlite, which ignores what it says anyway. */
const startup = makeMessage('', '\0\x03\0\0user\0postgres\0database\0postgres\0\0')

/** Sent after each message: PGlite dies of a COPY FROM STDIN without data. PostgreSQL ignores it anywhere else. */
const noData = makeMessage('f', 'this connection takes no data\0')

/**
 * Cuts what a client sends into messages of PostgreSQL's protocol, because PGlite takes only whole ones.
 * @param refuse called with the reason if a message would end PGlite; no further message follows
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
      const type = rest.toString('latin1', 0, lengthAt)
      const length = rest.readUInt32BE(lengthAt)
      const objection = objectionTo(type, length)
      if (objection !== undefined) return refuse(objection)
      needed = lengthAt + length
      if (rest.length < needed) break
      const isFirst = type === ''
      if (isFirst && rest.readUInt16BE(4) !== 3) return refuse(otherVersion)
      yield isFirst ? startup : Buffer.concat([rest.subarray(0, needed), noData])
      rest = rest.subarray(needed)
      lengthAt = 1
      needed = 5
    }
    received = [rest]
    size = rest.length
  }
}

const otherVersion = 'only version 3 of the protocol is supported, without encryption'

function objectionTo(type: string, length: number): string | undefined {
  const longest = longestOf.get(type)
  if (longest === undefined) return `unknown type of message: ${JSON.stringify(type)}`
  // The first message also has a version.
  const shortest = type === '' ? 8 : 4
  if (length >= shortest && length <= longest) return undefined
  return `invalid length of message: ${length} bytes instead of ${shortest} to ${longest}`
}

/** Makes a message of PostgreSQL's protocol. */
export function makeMessage(type: string, body: string): Buffer {
  const head = Buffer.from(`${type}....`)
  head.writeUInt32BE(4 + Buffer.byteLength(body), type.length)
  return Buffer.concat([head, Buffer.from(body)])
}
