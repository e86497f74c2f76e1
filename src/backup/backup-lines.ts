import { isUtf8 } from 'node:buffer'
import { longestLine } from './backup-format.ts'
import { RestoreRefusedError } from './restore-refused.ts'

export interface Line {
  /** From 1. */
  number: number
  text: string
  /** Whether a line feed ends it. */
  isWhole: boolean
}

const lineFeed = 10

/**
 * Splits bytes at line feeds.
 * @throws {RestoreRefusedError} if a line is too long or not UTF-8
 */
export async function* linesOf(input: AsyncIterable<Buffer | string>): AsyncGenerator<Line, undefined> {
  let number = 0
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of input) {
    const bytes = Buffer.concat([rest, Buffer.from(chunk)])
    let start = 0
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      yield { number: ++number, text: decode(bytes.subarray(start, end), number), isWhole: true }
      start = end + 1
    }
    rest = bytes.subarray(start)
    assertShort(rest, number + 1)
  }
  if (rest.length > 0) yield { number: number + 1, text: decode(rest, number + 1), isWhole: false }
}

function decode(bytes: Buffer, number: number): string {
  assertShort(bytes, number)
  if (!isUtf8(bytes)) throw new RestoreRefusedError(number, 'The line is not UTF-8.')
  return bytes.toString()
}

function assertShort({ length }: Buffer, number: number): void {
  if (length < longestLine) return
  throw new RestoreRefusedError(number, `The line has more than ${longestLine.toLocaleString('en')} bytes.`)
}

/** Parses a line's JSON. @throws {RestoreRefusedError} */
export function parseLine({ number, text, isWhole }: Line): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RestoreRefusedError(number, isWhole ? 'The line is not JSON.' : 'The export is cut off within this line.')
  }
}
