export interface Line {
  /** From 1. */
  number: number
  /** Without the line feed. */
  bytes: Buffer
  /** Whether a line feed ends it. */
  isWhole: boolean
}

const lineFeed = 10

/**
 * Splits bytes at line feeds only: readline also splits at U+2028 and U+2029, which JSON strings may contain.
 * @param longest in bytes. Nothing is read after a longer line, which may be cut off. The caller refuses it.
 */
export async function* linesOf(
  input: AsyncIterable<Buffer | string>,
  longest: number,
): AsyncGenerator<Line, undefined> {
  let number = 1
  let pieces: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    let rest: Buffer = Buffer.from(chunk)
    for (let end = rest.indexOf(lineFeed); end !== -1; end = rest.indexOf(lineFeed)) {
      yield { number, bytes: Buffer.concat([...pieces, rest.subarray(0, end)]), isWhole: true }
      number++
      pieces = []
      length = 0
      rest = rest.subarray(end + 1)
    }
    pieces.push(rest)
    length += rest.length
    if (length > longest) break
  }
  if (length > 0) yield { number, bytes: Buffer.concat(pieces), isWhole: false }
}
