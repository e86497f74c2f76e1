import type { BuiltInPanel, ToolbarCard, ViewContext } from '../../core/panel.ts'
import type { Profile } from '../../core/profile.ts'
import type { TimeKind } from '../../core/summary.ts'
import { locationText } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { blocks, code, plain, table } from '../../core/view/markdown.ts'
import { formatBytes, formatDuration, formatNumber, formatShare } from '../../core/view/units.ts'
import { awaitsInARow } from './awaits-in-a-row.ts'
import { kindView, renderKind, sliceTime, slowestCalls, timeByKind } from './exclusive-time.ts'
import { callName, findingsOf, findingText, renderFindings, renderSlowestFive } from './findings.ts'
import { type BarPiece, foldThreshold, hatchPattern, renderPieces, renderWaterfall } from './waterfall.ts'

/** What took the time of a request. */
export function timeCard(profile: Profile): ToolbarCard {
  const { duration, eventLoop } = profile
  const slices = sliceTime(profile)
  return {
    title: formatDuration(duration),
    note: `event loop busy ${Math.round(eventLoop.utilization * 100)}%`,
    warnings: findingsOf(profile, slices)
      .filter(({ what }) => what !== 'waited')
      .map(finding => findingText(finding, duration)[0]),
    rows: slowestCalls(profile, slices).map(call => [
      formatShare(call.time, duration),
      callName(call),
      formatNumber(call.time),
    ]),
  }
}

const callsListed = 20

/** The time of a request by kind, what is worth changing, and what took longest. */
export function performanceMarkdown(profile: Profile, { root }: ViewContext): string {
  const { duration, memory } = profile
  const growth = memory.heapUsedAtEnd - memory.heapUsedAtStart
  const slices = sliceTime(profile)
  return blocks(
    `Total ${formatDuration(duration)}, event loop utilization ${Math.round(profile.eventLoop.utilization * 100)} %, heap ${formatBytes(memory.heapUsedAtEnd)} at the end, ${growth < 0 ? '−' : '+'}${formatBytes(Math.abs(growth))} meanwhile.`,
    table(
      ['Kind', 'Time', 'Share'],
      timeByKind(slices).map(([kind, time]) => [
        kindView(kind).label,
        formatDuration(time),
        formatShare(time, duration),
      ]),
    ),
    findingsOf(profile, slices)
      .map(finding => {
        const place = finding.location === null ? '' : ` ${code(locationText(finding.location, root))}`
        return `- ${plain(findingText(finding, duration).join(' '))}${place}`
      })
      .join('\n'),
    '### Slowest calls',
    table(
      ['Name', 'Time', 'Share', 'Called from'],
      slowestCalls(profile, slices)
        .slice(0, callsListed)
        .map(call => [
          plain(callName(call)),
          formatDuration(call.time),
          formatShare(call.time, duration),
          call.span?.location == null ? '' : code(locationText(call.span.location, root)),
        ]),
    ),
  )
}

type Times = ReadonlyArray<readonly [kind: TimeKind, time: number]>

/** Smaller shares are not written beside their number. */
const smallestShare = 0.1

/** One bar for the whole request, divided by kind, with a legend that has the numbers. */
export function renderTimeBar(times: Times, total: number): Markup {
  const words = times.map(([kind, time]) => `${kindView(kind).label} ${formatDuration(time)}`).join(', ')
  return html`<svg class="stack" role="img" aria-label="${words}">${renderPieces(stackedPieces(times), total, 0, 24)}</svg>
<ul class="legend">${times.map(
    ([kind, time]) => html`
<li>${renderKind(kind)}${kindView(kind).label} <b>${formatNumber(time)}</b>${time >= total * smallestShare && html` <span class="muted">${formatShare(time, total)}</span>`}</li>`,
  )}
</ul>`
}

/** The times as pieces one after another. */
export function stackedPieces(times: Times): BarPiece[] {
  let end = 0
  return times.map(([kind, time]) => {
    const start = end
    end += time
    return { colour: kindView(kind).colour, start, end }
  })
}

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
