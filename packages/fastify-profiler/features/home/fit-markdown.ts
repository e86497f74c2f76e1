import { longestFence } from '../../core/view/markdown.ts'

/** The beginning of a text, and how many of its lines are left out at the end. */
interface Cut {
  text: string
  more: number
}

/** The most of a text's size that one of its lines may take. */
const linesAtLeast = 4

/** Bytes of the heading of a part, and of its fence. */
const aroundPart = 100

/**
 * Cuts Markdown at the end of a line, so that it has at most this many bytes. Long lines are shortened, a code block
 * that is cut is closed, and a table that is continued has its head again.
 * @param from the number of lines to skip
 */
export function fitLines(markdown: string, bytes: number, from = 0): Cut {
  const lines = markdown.trimEnd().split('\n')
  const most = Math.floor(bytes / linesAtLeast)
  const kept = headOfTable(lines, from).map(line => cutMarkdown(line, most))
  let size = sum(kept.map(sizeOf))
  let next = from
  for (const line of lines.slice(from)) {
    const short = cutMarkdown(line, most)
    size += sizeOf(short)
    if (size > bytes) break
    kept.push(short)
    next++
  }
  return { text: [...kept, ...openFences(kept)].join('\n'), more: Math.max(0, lines.length - next) }
}

function sizeOf(line: string): number {
  return Buffer.byteLength(line) + 1
}

/** The first two lines of the table that a line is in. */
function headOfTable(lines: readonly string[], from: number): string[] {
  const isRow = (index: number) => lines[index]?.startsWith('| ') === true
  let start = from
  while (isRow(start - 1)) start--
  return isRow(from) && from > start + 1 ? lines.slice(start, start + 2) : []
}

/** A line of at most so many bytes, and a note if something was left out. */
export function cutToBytes(line: string, bytes: number): string {
  if (Buffer.byteLength(line) <= bytes) return line
  const kept = Buffer.from(line)
    .subarray(0, Math.max(0, bytes - 32))
    .toString()
    .replace(/\ufffd+$/, '')
  return `${kept}… (${(line.length - kept.length).toLocaleString('en')} more characters)`
}

/** A line of Markdown of at most so many bytes. Inline code that is cut is closed. */
function cutMarkdown(line: string, bytes: number): string {
  if (Buffer.byteLength(line) <= bytes) return line
  const short = cutToBytes(line, bytes - longestFence)
  const end = short.lastIndexOf('… (')
  return short.slice(0, end) + openCode(short.slice(0, end)) + short.slice(end)
}

/** The backticks that close the inline code at the end of a line; empty if there is none. */
function openCode(line: string): string {
  let open = ''
  for (const [, escape, run = ''] of line.matchAll(/(\\?)(`+)/g)) {
    if (open === '') open = escape === '' ? run : ''
    else if (run === open) open = ''
  }
  return open
}

/** The line that closes the last code block; none if it is closed. */
function openFences(lines: readonly string[]): string[] {
  let open: string | null = null
  for (const line of lines) {
    if (open === null) open = /^`{3,}/.exec(line)?.[0] ?? null
    else if (line === open) open = null
  }
  return open === null ? [] : [open]
}

/**
 * Renders parts within a size, the most telling first: each gets what the later ones leave, and at least half of what
 * is left. A part that does not fit at all is left out.
 * @param markdownOf the whole text of a part
 * @param render cuts a part to a number of bytes
 */
export function fitParts<Part>(
  parts: readonly Part[],
  bytes: number,
  markdownOf: (part: Part) => string,
  render: (part: Part, bytes: number) => string,
): string[] {
  const rendered: string[] = []
  let left = bytes
  for (const [index, part] of parts.entries()) {
    const later = parts
      .slice(index + 1)
      .reduce((sum, part) => sum + Buffer.byteLength(markdownOf(part)) + aroundPart, 0)
    const text = render(part, Math.floor(Math.max(left / 2, left - later)))
    const size = Buffer.byteLength(text) + 2
    if (size > left) continue
    left -= size
    rendered.push(text)
  }
  return rendered
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
