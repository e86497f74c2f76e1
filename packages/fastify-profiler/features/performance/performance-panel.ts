import type { BuiltInPanel, ToolbarCard, ViewContext } from '../../core/panel.ts'
import type { Profile } from '../../core/profile.ts'
import type { TimeKind } from '../../core/summary.ts'
import { type Block, type Blocks, blocksHtml, blocksMarkdown, type Fact } from '../../core/view/block.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { formatBytes, formatDuration, formatNumber, formatShare } from '../../core/view/units.ts'
import { kindView, renderKind, type SlowCall, sliceTime, slowestCalls, timeByKind } from './exclusive-time.ts'
import {
  callName,
  type Finding,
  findingsBlock,
  findingsOf,
  findingText,
  renderSlowestFive,
  waitedFrom,
  wastefulCalls,
} from './findings.ts'
import { type BarPiece, foldThreshold, hatchPattern, renderPieces, renderWaterfall } from './waterfall.ts'

export function timeCard(profile: Profile): ToolbarCard {
  const { duration, eventLoop } = profile
  const slices = sliceTime(profile)
  return {
    title: formatDuration(duration),
    note: `event loop busy ${Math.round(eventLoop.utilization * 100)}%`,
    warnings: findingsOf(profile, slices)
      .filter(finding => finding.what !== 'waited' || finding.inVain)
      .map(finding => findingText(finding, duration)[0]),
    rows: slowestCalls(profile, slices).map(call => [
      formatShare(call.time, duration),
      callName(call),
      formatNumber(call.time),
    ]),
  }
}

export type Times = ReadonlyArray<readonly [kind: TimeKind, time: number]>

/** Smaller shares are not written beside their number. */
const smallestShare = 0.1

/** One bar for the whole request, divided by kind, with a legend that has the numbers. */
export function renderTimeBar(times: Times, total: number): Markup {
  return html`<svg class="stack" width="100%" height="24" role="img" aria-label="${timesText(times)}">${renderPieces(stackedPieces(times), total, 0, 24)}</svg>
<ul class="legend row">${times.map(
    ([kind, time]) => html`
<li>${renderKind(kind)}${kindView(kind).label} <b>${formatNumber(time)}</b>${time >= total * smallestShare && html` <span class="muted">${formatShare(time, total)}</span>`}</li>`,
  )}
</ul>`
}

/** The same in words. */
export function timesText(times: Times): string {
  return times.map(([kind, time]) => `${kindView(kind).label} ${formatDuration(time)}`).join(', ')
}

export function stackedPieces(times: Times): BarPiece[] {
  let end = 0
  return times.map(([kind, time]) => {
    const start = end
    end += time
    return { colour: kindView(kind).colour, start, end }
  })
}

export const performancePanel: BuiltInPanel<Profile> = {
  name: 'performance',
  label: 'Performance',
  read: profile => profile,
  opens(profile) {
    const slices = sliceTime(profile)
    const [most] = timeByKind(slices)
    return findingsOf(profile, slices).length > 0 || most?.[0] === 'sql' ? 1 : 0
  },
  badge: ({ duration }) => ({ text: formatDuration(duration), tone: 'neutral' }),
  toolbarItem(profile) {
    const row = wastefulCalls(profile).find(finding => finding.what === 'row')
    const card = timeCard(profile)
    const time = formatDuration(profile.duration)
    if (row === undefined) return { label: 'Time', value: time, tone: 'neutral', card }
    return { label: 'Time', value: `${time} · ${row.count} awaits in a row`, tone: 'warning', card }
  },
  view(profile, context) {
    const { duration } = profile
    const slices = sliceTime(profile)
    const times = timeByKind(slices)
    const findings = findingsOf(profile, slices)
    const found = findings.length === 0 ? null : findingsBlock(findings, profile)
    const calls = slowestCalls(profile, slices)
    const inText = (blocks: Blocks) => blocksMarkdown(blocks, context.root)
    return [
      {
        html: renderTimes(profile, times, headlineOf(findings[0], duration)),
        markdown: inText([{ text: processText(profile) }, timeTable(times, duration)]),
      },
      { html: renderTwo(found, calls, context), markdown: inText([found, callTable(calls, duration)]) },
      { html: renderTimeline(context), markdown: '' },
    ]
  },
}

/** The half of a request that was no work, in words; else what the bar below shows. */
function headlineOf(worst: Finding | undefined, duration: number): string {
  const whole = formatDuration(duration)
  if (worst === undefined || worst.time < duration / 2) return `Where ${whole} went`
  const part = `${formatNumber(worst.time)} of ${whole}`
  if (worst.what === 'blocked') return `${part}: the event loop was blocked`
  if (worst.what === 'waited') return `${part}: waiting for a connection`
  return `Where ${whole} went`
}

/** How long a request waited for connections while nothing else of it ran, for the header of its pages. */
export function waitingFact(profile: Profile): Fact[] {
  const time = new Map(timeByKind(sliceTime(profile))).get('waiting') ?? 0
  return time >= waitedFrom ? [['Waiting', formatDuration(time)]] : []
}

function renderTimes(profile: Profile, times: Times, headline: string): Markup {
  return html`${hatchPattern}<section aria-labelledby="where"><div class="head"><h2 id="where">${headline} <small>each millisecond counted once</small></h2><span class="right">${processText(profile)}</span></div>
${renderTimeBar(times, profile.duration)}</section>`
}

/** The findings beside the slowest five, or these alone. */
function renderTwo(
  found: ReturnType<typeof findingsBlock> | null,
  calls: readonly SlowCall[],
  context: ViewContext,
): Markup {
  const slowest = renderSlowestFive(calls, context)
  if (found === null) return slowest
  return html`<div class="two"><section aria-labelledby="findings"><h2 id="findings">Findings <span class="count">${found.findings.length}</span></h2>
${blocksHtml([found], context)}</section>${slowest}</div>`
}

const timeColumns = [
  { label: 'Time', kind: 'number' },
  { label: 'Share', kind: 'number' },
] as const

function timeTable(times: Times, duration: number): Block {
  return {
    title: `Where ${formatDuration(duration)} went`,
    columns: [{ label: 'Kind' }, ...timeColumns],
    rows: times.map(([kind, time]) => [kindView(kind).label, formatDuration(time), formatShare(time, duration)]),
  }
}

const callsListed = 20

function callTable(calls: readonly SlowCall[], duration: number): Block {
  const rows = calls.slice(0, callsListed).map(call => {
    const location = call.span?.location ?? null
    const place = location === null ? null : { place: location }
    return [callName(call), formatDuration(call.time), formatShare(call.time, duration), place]
  })
  const columns = [{ label: 'Name' }, ...timeColumns, { label: 'Called from' }]
  return { section: 'Slowest calls', blocks: [{ title: 'Slowest calls', columns, rows }] }
}

/** What the process did meanwhile; other requests count, too. */
function processText({ eventLoop, memory }: Profile): string {
  return `Event loop busy ${Math.round(eventLoop.utilization * 100)}% · Heap ${formatBytes(memory.heapUsedAtEnd)}`
}

function renderTimeline(context: ViewContext): Markup {
  const { profile, query } = context
  const threshold = foldThreshold(query, profile.duration)
  return html`<section aria-labelledby="waterfall"><div class="head"><h2 id="waterfall">Waterfall <small>pale: waiting for what it called; hatched: for a connection</small></h2><form class="right chips"><input type="hidden" name="panel" value="performance"><label for="fold">Fold below</label><input id="fold" class="threshold" type="number" name="fold" value="${threshold}" min="0" step="any"> ms <button>Apply</button></form></div>
${renderWaterfall(context, threshold)}</section>`
}
