import { html, type Markup } from './html.ts'

const INLINE_LENGTH = 160
const MAX_LENGTH = 20_000

/** Text of a recorded value, bounded: strings as they are, the rest as JSON. */
export function valueText (value: unknown, indent = 0): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, indent) ?? String(value)
  if (text.length <= MAX_LENGTH) return text
  return `${text.slice(0, MAX_LENGTH)}… (${text.length - MAX_LENGTH} characters more)`
}

/** A recorded value: short ones inline, long structured ones indented in a block of their own. */
export function renderValue (value: unknown): Markup {
  if (value === null || value === undefined) return html`<span class="muted">${String(value)}</span>`
  if (value === '') return html`<span class="muted">empty</span>`
  const text = valueText(value)
  if (typeof value !== 'object' || text.length <= INLINE_LENGTH) return html`<code>${text}</code>`
  return html`<pre tabindex="0"><code>${unfolded(valueText(value, 2))}</code></pre>`
}

/** JSON with the line breaks of its strings shown as such: a recorded stack is read, not parsed. */
function unfolded (json: string): string {
  return json.replace(/(?<!\\)((?:\\\\)*)\\n/g, '$1\n')
}
