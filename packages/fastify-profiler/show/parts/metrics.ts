import { html, type Content, type Markup } from '../../base/html.ts'

/** A labelled figure with an optional note. */
export interface Metric {
  label: string
  value: Content
  note?: Content
}

/** The key figures at the top of a panel. */
export function renderMetrics(metrics: readonly Metric[]): Markup {
  return html`<dl class="metrics">${metrics.map(
    ({ label, value, note }) => html`
<div><dt>${label}</dt><dd>${value}${note !== undefined && html` <small>${note}</small>`}</dd></div>`,
  )}
</dl>`
}
