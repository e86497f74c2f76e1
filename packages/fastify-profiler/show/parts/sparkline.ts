import type { PeriodSlice } from '../../store/overview.ts'
import { html, type Markup } from '../../base/html.ts'

const width = 60
const height = 18

/** One bar for each slice of a period: its p95, or its number of requests. Red where a request failed. */
export function renderSparkline(slices: readonly PeriodSlice[], of: 'p95' | 'count'): Markup {
  // Never zero, since heights are divided by it.
  const highest = Math.max(...slices.map(slice => slice[of]), Number.MIN_VALUE)
  const step = width / slices.length
  return html`<svg class="spark" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">${slices.map(
    (slice, index) => {
      const tall = Math.max(1, Math.round((slice[of] / highest) * (height - 1)))
      return html`<rect${slice.failed > 0 && html` class="failed"`} x="${index * step}" y="${height - tall}" width="${step - 1.4}" height="${tall}"/>`
    },
  )}</svg>`
}
