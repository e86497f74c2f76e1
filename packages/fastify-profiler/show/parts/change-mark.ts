import { html, type Markup } from '../../base/html.ts'
import type { Conclusion } from './comparison-text.ts'
import { renderSeverity } from './severity.ts'

const better = html`<svg class="severity better" viewBox="0 0 14 14" role="img" aria-label="Better"><path d="M5.5 1h3v6H13l-6 6.5L1 7h4.5z"/></svg>`
const worse = html`<svg class="severity worse" viewBox="0 0 14 14" role="img" aria-label="Worse"><path d="M5.5 13h3V7H13L7 .5 1 7h4.5z"/></svg>`

/** The mark of a conclusion: an arrow down for less time, up for more. */
export function renderChangeMark(tone: Conclusion['tone']): Markup {
  if (tone === 'better') return better
  return tone === 'worse' ? worse : renderSeverity(tone)
}
