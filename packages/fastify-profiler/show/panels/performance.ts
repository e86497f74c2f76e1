import type { BuiltInPanel, ViewContext } from '../../collect/panel.ts'
import { awaitsInARow } from '../../collect/awaits-in-a-row.ts'
import { sliceTime, timeByKind } from '../../collect/exclusive-time.ts'
import { findingsOf } from '../../collect/findings.ts'
import { slowestCalls } from '../../collect/slowest-calls.ts'
import type { Profile } from '../../base/profile.ts'
import { timeCard } from '../cards/time-card.ts'
import { hatchPattern } from '../parts/bar.ts'
import { renderFindings } from '../parts/findings.ts'
import { html, type Markup } from '../../base/html.ts'
import { performanceMarkdown } from '../markdown/performance-markdown.ts'
import { renderSlowestFive } from '../parts/slowest-five.ts'
import { foldThreshold } from '../parts/fold-threshold.ts'
import { renderTimeBar } from '../parts/time-bar.ts'
import { formatBytes, formatDuration } from '../parts/units.ts'
import { renderWaterfall } from '../parts/waterfall.ts'

/** What took the time of the request. */
export const performancePanel: BuiltInPanel<Profile> = {
  name: 'performance',
  label: 'Performance',
  read: profile => profile,
  badge: ({ duration }) => ({ text: formatDuration(duration), tone: 'neutral' }),
  toolbarItem(profile) {
    const [row] = awaitsInARow(profile)
    const card = timeCard(profile)
    const time = formatDuration(profile.duration)
    if (row === undefined) return { label: 'Time', value: time, tone: 'neutral', card }
    return { label: 'Time', value: `${time} · ${row.count} awaits in a row`, tone: 'warning', card }
  },
  body(profile, context) {
    const slices = sliceTime(profile)
    const findings = renderFindings(findingsOf(profile, slices), context)
    const slowest = renderSlowestFive(slowestCalls(profile, slices), context)
    return html`${hatchPattern}<section aria-labelledby="where"><div class="head"><h2 id="where">Where ${formatDuration(profile.duration)} went <small>each millisecond counted once</small></h2><span class="right">${processText(profile)}</span></div>
${renderTimeBar(timeByKind(slices), profile.duration)}</section>
${findings === null ? slowest : html`<div class="two">${findings}${slowest}</div>`}
${renderTimeline(context)}`
  },
  markdown: performanceMarkdown,
}

/** What the process did meanwhile; other requests count, too. */
function processText({ eventLoop, memory }: Profile): string {
  return `Event loop busy ${Math.round(eventLoop.utilization * 100)}% · Heap ${formatBytes(memory.heapUsedAtEnd)}`
}

function renderTimeline(context: ViewContext): Markup {
  const { profile, query } = context
  const threshold = foldThreshold(query, profile.duration)
  return html`<section aria-labelledby="waterfall"><div class="head"><h2 id="waterfall">Waterfall <small>pale: waiting for what it called</small></h2><form class="right"><input type="hidden" name="panel" value="performance"><label for="fold">Fold below</label><input id="fold" class="threshold" type="number" name="fold" value="${threshold}" min="0" step="any"> ms <button>Apply</button></form></div>
${renderWaterfall(context, threshold)}</section>`
}
