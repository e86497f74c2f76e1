import { html, type Markup } from '../../base/html.ts'
import type { Excerpt } from '../../base/profile.ts'
import { highlightSql, highlightTypescript } from './highlight.ts'

const MAX_LINE = 400
const MAX_SQL = 20_000
/** Anything shorter fits its block on the narrowest screen. */
const LONG_SQL = 1000
const LONG_SQL_LINES = 20

function shown(line: string): string {
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line
}

/** Numbered lines of TypeScript, with the relevant line marked. */
export function renderExcerpt(excerpt: Excerpt): Markup {
  const lines = highlightTypescript(excerpt.lines.map(shown))
  return html`<pre class="source" tabindex="0"><code>${lines.map((line, index) => {
    const number = excerpt.first + index
    return number === excerpt.line
      ? html`<mark class="line" data-line="${number}">${line}\n</mark>`
      : html`<span class="line" data-line="${number}">${line}\n</span>`
  })}</code></pre>`
}

/** Text in a monospaced block. */
export function renderCodeBlock(text: string): Markup {
  return html`<pre tabindex="0"><code>${text}</code></pre>`
}

/** An SQL statement with syntax highlighting; long lines wrap. */
export function renderSqlBlock(sql: string): Markup {
  const text = sql.length > MAX_SQL ? `${sql.slice(0, MAX_SQL)}…` : sql
  const lines = highlightSql(text)
  // Focusable only where the keyboard may have to scroll.
  const isLong = text.length > LONG_SQL || lines.length > LONG_SQL_LINES
  return html`<pre class="sql"${isLong && html` tabindex="0"`}><code>${lines.map((line, index) => (index === 0 ? line : html`\n${line}`))}</code></pre>`
}
