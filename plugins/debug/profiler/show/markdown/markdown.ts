import { visible } from '../../base/visible.ts'

/** Text that Markdown reads as text, on one line: nothing in it makes a link, a heading or markup. */
export function plain(text: string): string {
  return visible(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>|#~!&]/g, character => `\\${character}`)
}

/** Code within a line, whatever backticks it holds. */
export function code(text: string): string {
  const line = visible(text).replace(/\s+/g, ' ')
  const ticks = fence(line, 1)
  const edge = ticks.length > 1 ? ' ' : ''
  return line.trim() === '' ? '(empty)' : `${ticks}${edge}${line}${edge}${ticks}`
}

/** Code in a block of its own. */
export function codeBlock(text: string, language = ''): string {
  const ticks = fence(text, 3)
  return `${ticks}${language}\n${visible(text).replace(/\r\n?/g, '\n')}\n${ticks}`
}

/** A table; its cells are Markdown already. */
export function table(columns: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const lines = [
    columns,
    columns.map(() => '---'),
    ...rows.map(row => row.map(cell => cell.replace(/(?<!\\)\|/g, '\\|'))),
  ]
  return lines.map(line => `| ${line.join(' | ')} |`).join('\n')
}

/** Blocks one below the other, empty ones left out. */
export function blocks(...parts: ReadonlyArray<string | null>): string {
  return parts.filter(part => part !== null && part !== '').join('\n\n')
}

function fence(text: string, least: number): string {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(longest >= least ? longest + 1 : least)
}
