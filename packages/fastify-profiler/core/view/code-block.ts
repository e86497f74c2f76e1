import { html, type Markup } from './html.ts'

/** The CSS class of a token, or null for plain text. */
type Classify = (token: string) => string | null

const sql = new RegExp(
  [
    /--[^\n]*/,
    /\/\*[\s\S]*?(?:\*\/|$)/,
    /'(?:''|[^'])*'?/,
    /"(?:""|[^"])*"?/, // a quoted identifier, which may look like a keyword
    /\$\d+/,
    /[A-Za-z_]\w*/,
  ]
    .map(part => part.source)
    .join('|'),
  'g',
)

const sqlKeywords = new Set(
  (
    'all and any array as asc begin between by case cast commit conflict constraint count create cross current_timestamp ' +
    'default delete desc distinct do drop else end except exists explain false for from full group having ilike in index inner insert ' +
    'intersect into is join key lateral left like limit natural not nothing null nulls of offset on or order outer over partition ' +
    'primary recursive references returning right rollback row rows select set table then true truncate union unique update using ' +
    'values view when where window with'
  ).split(' '),
)

function classifySql(token: string): string | null {
  if (/^(?:--|\/)/.test(token)) return 'comment'
  if (/^['$]/.test(token)) return 'string'
  return sqlKeywords.has(token.toLowerCase()) ? 'keyword' : null
}

/** Highlights line by line, so that a comment over several lines is coloured on each. */
export function highlight(text: string, pattern: RegExp, classify: Classify): Markup[] {
  const lines: Markup[][] = [[]]
  const add = (piece: string, name: string | null): void => {
    piece.split('\n').forEach((part, index) => {
      if (index > 0) lines.push([])
      if (part !== '') lines.at(-1)?.push(name === null ? html`${part}` : html`<span class="${name}">${part}</span>`)
    })
  }
  let plain = 0
  for (const match of text.matchAll(pattern)) {
    const name = classify(match[0])
    if (name === null) continue
    add(text.slice(plain, match.index), null)
    add(match[0], name)
    plain = match.index + match[0].length
  }
  add(text.slice(plain), null)
  return lines.map(pieces => html`${pieces}`)
}

export function highlightSql(text: string): Markup[] {
  return highlight(text, sql, classifySql)
}

const json = /"(?:\\.|[^"\\])*"?(\s*:)?|\b(?:true|false|null)\b/g

/** Highlights JSON: strings, but not the names of fields, and its three words. */
export function highlightJson(text: string): Markup {
  const lines = highlight(text, json, token => {
    if (!token.startsWith('"')) return 'keyword'
    return token.endsWith(':') ? null : 'string'
  })
  return html`${lines.map((line, index) => (index === 0 ? line : html`\n${line}`))}`
}

const MAX_SQL = 20_000
/** Anything shorter fits its block on the narrowest screen. */
const LONG_SQL = 1000
const LONG_SQL_LINES = 20

function underlined(sql: string, [start, end]: Part): Markup[] {
  const before = highlightSql(sql.slice(0, start))
  const [first, ...after] = highlightSql(sql.slice(end))
  const joint = html`${before.pop()}<u class="wrong error">${sql.slice(start, end)}</u>${first}`
  return [...before, joint, ...after]
}

/** A part of a text, from one index to another. */
export type Part = readonly [start: number, end: number]

/** An SQL statement with syntax highlighting; long lines wrap. @param wrong the part to underline */
export function renderSqlBlock(sql: string, wrong: Part | null = null): Markup {
  const text = sql.length > MAX_SQL ? `${sql.slice(0, MAX_SQL)}…` : sql
  const lines = wrong === null ? highlightSql(text) : underlined(text, wrong)
  // Focusable only where the keyboard may have to scroll.
  const isLong = text.length > LONG_SQL || lines.length > LONG_SQL_LINES
  return html`<pre class="sql"${isLong && html` tabindex="0"`}><code>${lines.map((line, index) => (index === 0 ? line : html`\n${line}`))}</code></pre>`
}
