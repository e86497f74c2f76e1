import { html, type Markup } from '../../base/html.ts'

const INLINE_LENGTH = 160
const MAX_LENGTH = 20_000

/** What is shown of a log line's field: a logged error says at length what stands among the exceptions. */
export const LOGGED_LENGTH = 4000

/** Text of a recorded value, bounded: strings as they are, the rest as JSON. */
export function valueText(value: unknown, indent = 0, limit = MAX_LENGTH): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, indent) ?? String(value))
  if (text.length <= limit) return text
  return `${text.slice(0, limit)}… (${text.length - limit} characters more)`
}

/** A recorded value: short ones inline, long structured ones indented in a block of their own. */
export function renderValue(value: unknown, limit = MAX_LENGTH): Markup {
  if (value === null || value === undefined) return html`<span class="muted">${String(value)}</span>`
  if (value === '') return html`<span class="muted">empty</span>`
  const text = valueText(value, 0, limit)
  if (typeof value !== 'object' || text.length <= INLINE_LENGTH) return html`<code>${text}</code>`
  return html`<pre tabindex="0"><code>${unfolded(valueText(value, 2, limit))}</code></pre>`
}

/** JSON with the line breaks of its strings shown as such: a recorded stack is read, not parsed. */
function unfolded(json: string): string {
  return json.replace(/(?<!\\)((?:\\\\)*)\\n/g, '$1\n')
}
