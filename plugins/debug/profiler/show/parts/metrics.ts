import { html, type Content, type Markup } from '../../base/html.ts'

/** One figure with its name, and a word on it where the name is not enough. */
export interface Metric {
  label: string
  value: Content
  note?: Content
}

/** The few figures a panel opens with. */
export function renderMetrics(metrics: readonly Metric[]): Markup {
  return html`<dl class="metrics">${metrics.map(
    ({ label, value, note }) => html`
<div><dt>${label}</dt><dd>${value}${note !== undefined && html` <small>${note}</small>`}</dd></div>`,
  )}
</dl>`
}
