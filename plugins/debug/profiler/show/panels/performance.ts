import type { BuiltInPanel } from '../../collect/panel.ts'
import type { Profile, Span } from '../../base/profile.ts'
import { renderDataTable } from '../parts/data-table.ts'
import { html, type Markup } from '../../base/html.ts'
import { blocks, plain, table } from '../markdown/markdown.ts'
import { renderMetrics } from '../parts/metrics.ts'
import { renderSection } from '../parts/section.ts'
import { spanColour } from '../parts/span-kind.ts'
import { ownTimes, timelineRows } from '../parts/span-tree.ts'
import { formatBytes, formatDuration } from '../parts/units.ts'
import { renderWaterfall } from '../parts/waterfall.ts'

interface Share {
  name: string
  colour: string
  spans: number
  time: number
}

/** Total self time by kind or plugin, longest first. */
function shares(spans: readonly Span[], name: (span: Span) => string, colour: (span: Span) => string): Share[] {
  const byName = new Map<string, Share>()
  for (const { span, own } of ownTimes(spans)) {
    const key = name(span)
    const share = byName.get(key) ?? { name: key, colour: colour(span), spans: 0, time: 0 }
    share.spans++
    share.time += own
    byName.set(key, share)
  }
  return [...byName.values()].sort((a, b) => b.time - a.time)
}

function byKind({ spans }: Profile): Share[] {
  return shares(
    spans,
    span => span.kind,
    span => spanColour(span.kind),
  )
}

function byPlugin({ spans }: Profile): Share[] {
  return shares(
    spans,
    span => pluginOf(span, spans),
    () => 'point',
  )
}

/** The plugin of a span, or of its nearest ancestor that has one: a query counts for its caller's plugin. */
function pluginOf(span: Span, spans: readonly Span[]): string {
  for (let at: Span | undefined = span, left = spans.length; at !== undefined && left >= 0; left--) {
    if (at.plugin !== null) return at.plugin
    at = at.parent === null ? undefined : spans[at.parent]
  }
  return 'no plugin'
}

function renderShares(title: string, list: readonly Share[]): Markup {
  return html`<section><h3>${title}</h3>${renderDataTable(
    title,
    [{ label: 'Name' }, { label: 'Calls', kind: 'number' }, { label: 'Self time', kind: 'number' }],
    list.map(share => ({
      cells: [html`<span class="swatch ${share.colour}"></span>${share.name}`, share.spans, formatDuration(share.time)],
    })),
    'Nothing was timed.',
  )}</section>`
}

/** Event loop utilization during the request, in whole percent; other requests count, too. */
function utilization({ eventLoop }: Profile): string {
  return `${Math.round(eventLoop.utilization * 100)} %`
}

/** What took the time of the request. */
export const performancePanel: BuiltInPanel<Profile> = {
  name: 'performance',
  label: 'Performance',
  read: profile => profile,
  toolbarItem: profile => ({ label: 'Duration', value: formatDuration(profile.duration), tone: 'neutral' }),
  body: (profile, context) => html`${renderMetrics([
    { label: 'Total', value: formatDuration(profile.duration) },
    {
      label: 'Event loop utilization',
      value: utilization(profile),
      note: `${formatDuration(profile.eventLoop.active)} of ${formatDuration(profile.eventLoop.active + profile.eventLoop.idle)}`,
    },
    {
      label: 'Heap used',
      value: formatBytes(profile.memory.heapUsedAtEnd),
      note: `of ${formatBytes(profile.memory.heapLimit)}, whole process`,
    },
    { label: 'Timed calls', value: profile.spans.length },
  ])}
${renderSection('Timeline', renderWaterfall(context))}
<div class="columns">${renderShares('By kind', byKind(profile))}${renderShares('By plugin', byPlugin(profile))}</div>`,
  markdown: profile =>
    blocks(
      `Total ${formatDuration(profile.duration)}, event loop utilization ${utilization(profile)}.`,
      table(
        ['Name', 'Kind', 'Start', 'Duration'],
        timelineRows(profile).map(row => [
          `${'· '.repeat(row.depth)}${plain(row.type === 'point' ? row.point.name : row.span.name)}`,
          row.type === 'point' ? 'dispatch point' : row.span.kind,
          formatDuration(row.start),
          formatDuration(row.duration),
        ]),
      ),
    ),
}
