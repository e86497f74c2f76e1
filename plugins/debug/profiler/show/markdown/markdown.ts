import { visible } from '../../base/visible.ts'

/** Escapes text for Markdown and puts it on one line. */
export function plain(text: string): string {
  return visible(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>|#~!&]/g, character => `\\${character}`)
}

/** Inline code; the text may contain backticks. */
export function code(text: string): string {
  const line = visible(text).replace(/\s+/g, ' ')
  const ticks = fence(line, 1)
  const edge = ticks.length > 1 ? ' ' : ''
  return line.trim() === '' ? '(empty)' : `${ticks}${edge}${line}${edge}${ticks}`
}

/** A fenced code block; the text may contain fences. */
export function codeBlock(text: string, language = ''): string {
  const ticks = fence(text, 3)
  return `${ticks}${language}\n${visible(text).replace(/\r\n?/g, '\n')}\n${ticks}`
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

function fence(text: string, least: number): string {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(longest >= least ? longest + 1 : least)
}
