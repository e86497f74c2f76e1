import { html, type Markup } from '../../base/html.ts'

const INLINE_LENGTH = 160
const MAX_LENGTH = 20_000

/** Characters shown of a log field. Shorter, since a logged error repeats what the exceptions show. */
export const LOGGED_LENGTH = 4000

/** A recorded value as bounded text: strings as they are, other values as JSON. */
export function valueText(value: unknown, indent = 0, limit = MAX_LENGTH): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, indent) ?? String(value))
  if (text.length <= limit) return text
  return `${text.slice(0, limit)}… (${text.length - limit} more characters)`
}

/** A recorded value: short ones inline, long objects and arrays indented in a block. */
export function renderValue(value: unknown, limit = MAX_LENGTH): Markup {
  if (value === null || value === undefined) return html`<span class="muted">${String(value)}</span>`
  if (value === '') return html`<span class="muted">empty</span>`
  const text = valueText(value, 0, limit)
  if (typeof value !== 'object' || text.length <= INLINE_LENGTH) return html`<code>${text}</code>`
  return html`<pre tabindex="0"><code>${unfolded(valueText(value, 2, limit))}</code></pre>`
}

/** Turns escaped line breaks in JSON into real ones, so that a recorded stack is readable. */
function unfolded(json: string): string {
  return json.replace(/(?<!\\)((?:\\\\)*)\\n/g, '$1\n')
}
