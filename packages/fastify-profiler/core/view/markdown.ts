import { visible } from '../foreign-value.ts'

/** Escapes text for Markdown and puts it on one line. */
export function plain(text: string): string {
  return visible(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>|#~!&]/g, character => `\\${character}`)
}

/** Inline code; the text may contain backticks. */
export function code(text: string): string {
  const line = shortRuns(visible(text)).replace(/\s+/g, ' ')
  const ticks = fence(line, 1)
  const edge = ticks.length > 1 ? ' ' : ''
  return line.trim() === '' ? '(empty)' : `${ticks}${edge}${line}${edge}${ticks}`
}

/** A fenced code block; the text may contain fences. */
export function codeBlock(text: string, language = ''): string {
  return fenced(shortRuns(visible(text)).replace(/\r\n?/g, '\n'), language)
}

/** Markdown as a code block. */
export function fenced(block: string, language: string): string {
  const ticks = fence(block, 3)
  return `${ticks}${language}\n${block}\n${ticks}`
}

/** A table. Its cells must be Markdown. */
export function table(columns: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const lines = [
    columns,
    columns.map(() => '---'),
    ...rows.map(row => row.map(cell => cell.replace(/(?<!\\)\|/g, '\\|'))),
  ]
  return lines.map(line => `| ${line.join(' | ')} |`).join('\n')
}

/** Joins blocks with blank lines and skips empty ones. */
export function blocks(...parts: ReadonlyArray<string | null>): string {
  return parts.filter(part => part !== null && part !== '').join('\n\n')
}

/** Backticks of the longest fence: of a code block in a code block. Nobody may shorten it, so runs are short. */
export const longestFence = 17

function shortRuns(text: string): string {
  return text.replace(/`{16,}/g, run => `${'`'.repeat(15)}(${run.length} backticks)`)
}

function fence(text: string, least: number): string {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(longest >= least ? longest + 1 : least)
}
