import { shortened } from './fit-markdown.ts'
import { exceptionWords } from './like-requests.ts'
import {
  type ExceptionOverview,
  failures,
  type Overview,
  type StatementOverview,
  type RouteOverview,
  type RouteTrouble,
} from './overview.ts'
import type { Period } from './search-criteria.ts'
import { type Block, blocksHtml, type Finding, type Inline } from '../../core/view/block.ts'
import { figures, type Place } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { code } from '../../core/view/markdown.ts'
import { count, formatDuration, formatMilliseconds, formatTime, renderAge } from '../../core/view/units.ts'
import { searchQuery } from '../../core/view/urls.ts'
import { renderSparkline, slowFrom } from './profile-list.ts'

/** A route got slower if its median grew by this factor and this many milliseconds. */
const slowerBy = 1.5
const slowerFrom = 10
const enoughRequests = 20

/** What is wrong with a route lately, in words, the worst first. */
function troublesOf(route: RouteOverview): Array<Omit<RouteTrouble, 'count' | 'what'> & { what: string }> {
  const { count: all, exception, failed, token } = route
  const name = routeName(route)
  const thrown = route.troubles.find(({ what }) => what === 'fails')
  const { detail, location } = thrown ?? { detail: exception ?? '', location: null }
  const [before, after] = halves(route)
  const isSlower = before > 0 && after >= before * slowerBy && after - before >= slowerFrom && all >= enoughRequests
  const slower = `${name} got slower: p95 ${formatDuration(before)} → ${formatDuration(after)}.`
  return [
    ...(failed > 0 ? [{ what: 'fails', claim: `${name} fails: ${failed} of ${all}.`, detail, location, token }] : []),
    ...route.troubles
      .filter(({ what }) => what !== 'fails')
      .map(({ count, ...trouble }) => ({ ...trouble, claim: `${name}, ${count} of ${all}: ${trouble.claim}` })),
    ...(isSlower ? [{ what: 'slower', claim: slower, detail: '', location: null, token }] : []),
  ]
}

/** The median of the p95 of the slices in each half of the period. */
function halves({ slices }: RouteOverview): [before: number, after: number] {
  const median = (part: RouteOverview['slices']) => {
    const values = part.filter(({ count }) => count > 0).map(({ p95 }) => p95)
    return values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
  }
  return [median(slices.slice(0, slices.length / 2)), median(slices.slice(slices.length / 2))]
}

/** The name of a route: "GET /museums/:id". */
function routeName({ method, route }: Pick<RouteOverview, 'method' | 'route'>): string {
  return route === null ? 'no route' : `${method} ${route}`
}

const periodNames: Record<Period, string> = { '15min': '15 min', '1h': '1 h', all: 'All' }

const findingsShown = 8

/** Rows of a table that are not folded. */
const rowsOpen = 8

/** What matters lately: sentences first, then the requests by route, by statement and by exception. */
export function renderOverview(overview: Overview, period: Period, base: string, place: Place): Markup {
  const { exceptions, failed, left, p95, refused, requests, routes, statements } = overview
  const part = (section: string, note: string | undefined, ...blocks: Block[]) =>
    blocksHtml([{ section, ...(note !== undefined && { note }), blocks }], place, 2)
  const troubles = troublesLately(overview, base)
  const others = troubles.slice(findingsShown)
  const findings: Block[] = [
    { findings: troubles.slice(0, findingsShown) },
    ...(others.length === 0 ? [] : [{ fold: `${others.length} more`, blocks: [{ findings: others }] }]),
  ]
  return html`<section><div class="head"><h1>What matters lately</h1><span class="muted">${count(requests, 'request')}${failed > 0 && html` · <b class="error">${failed.toLocaleString('en')} failed</b>`}${refused > 0 && ` · ${refused.toLocaleString('en')} refused`} · p95 ${formatDuration(p95)}</span><nav class="right chips" aria-label="Period">${Object.entries(periodNames).map(([name, label]) => html`<a class="chip" href="${base}/?period=${name}"${name === period && html` aria-current="true"`}>${label}</a>`)}</nav></div>
${blocksHtml(findings, place)}</section>
<div class="two home">${part(
    'By route',
    'failed first, then most time; ms; SQL is the median count',
    ...folded(routes, left.routes, 'more route', some => routeTable(some, base)),
  )}<div>${statements.length > 0 && part('By SQL shape', 'most time first; ms', ...folded(statements, left.statements, 'more statement', some => statementTable(some, base)))}
${exceptions.length > 0 && part('By exception', undefined, ...folded(exceptions, left.exceptions, 'more exception', some => exceptionTable(some, base)))}</div></div>`
}

/** A table of the first rows, and a folded one of the others. @param left those that are not even there */
function folded<Row extends { count: number }>(
  rows: readonly Row[],
  left: number,
  what: string,
  tableOf: (rows: readonly Row[]) => Block,
): Block[] {
  const others = rows.slice(rowsOpen)
  if (others.length === 0) return [tableOf(rows)]
  const asked = others.reduce((sum, { count }) => sum + count, 0)
  const unlisted = left > 0 ? `, and ${left.toLocaleString('en')} that are not listed` : ''
  return [
    tableOf(rows.slice(0, rowsOpen)),
    {
      fold: `${count(others.length, what)}, ${asked.toLocaleString('en')} times${unlisted}`,
      blocks: [tableOf(others)],
    },
  ]
}

/**
 * What is wrong with routes lately, each with its requests, or for a text with one to look at. Crashes come first, then
 * the first of each kind, then all others.
 */
export function troublesLately({ routes }: Pick<Overview, 'routes'>, base: string): Finding[] {
  const kinds = new Map<string, number>()
  const found = routes.flatMap(route =>
    troublesOf(route).map(({ what, claim, detail, location, token }) => {
      const rank = kinds.get(what) ?? 0
      kinds.set(what, rank + 1)
      const url = `${routeUrl(route, base)}${what === 'fails' ? '&status=5xx' : ''}`
      const finding: Finding = {
        tone: failures.has(what) ? 'error' : 'warning',
        claim: shortened(claim, longestCell),
        detail: shortened(detail, longestCell),
        places: [location ?? []].flat(),
        aside: { html: html` <a href="${url}">Requests</a>`, markdown: code(token) },
      }
      return { finding, rank: what === 'crash' ? -1 : Math.min(rank, 1) }
    }),
  )
  return found.sort((one, other) => one.rank - other.rank).map(({ finding }) => finding)
}

function routeUrl({ method, route }: RouteOverview, base: string): string {
  return `${base}/search?${searchQuery({ route: `=${route ?? ''}`, ...(route !== null && { method }) }, 1)}`
}

/** Bytes of a text in a list. */
const longestCell = 160

/** What links to all requests of a row in a page, and leads to one of them in a text. */
const example = { label: 'Profile', only: 'text' } as const
const tally = figures('Count')
const times = [figures('p50', true), figures('p95'), figures('Worst', true)]

function timesOf({ p50, p95, worst }: Pick<RouteOverview, 'p50' | 'p95' | 'worst'>): Inline[] {
  return [formatMilliseconds(p50), slowCell(p95), slowCell(worst)]
}

/** The requests lately by route: those that failed first, then most time. */
export function routeTable(routes: readonly RouteOverview[], base: string): Block {
  return {
    title: 'By route',
    lines: 'overview',
    columns: [
      { label: 'Route' },
      example,
      { label: 'p95 over time', isWide: true, only: 'page' },
      tally,
      ...times,
      figures('4xx', true),
      figures('5xx'),
      figures('SQL', true),
    ],
    rows: routes.map(route => [
      { link: { code: shortened(routeName(route), longestCell) }, to: routeUrl(route, base) },
      { code: route.token },
      { html: renderSparkline(route.slices, 'p95'), markdown: '' },
      route.count.toLocaleString('en'),
      ...timesOf(route),
      countCell(route.refused),
      countCell(route.failed, 'error'),
      countCell(route.queries, route.troubles.some(({ what }) => what === 'repeated') ? 'warning' : undefined),
    ]),
  }
}

function slowCell(ms: number): Inline {
  return ms >= slowFrom ? { strong: formatMilliseconds(ms), tone: 'warning' } : formatMilliseconds(ms)
}

function countCell(number: number, tone?: 'error' | 'warning'): Inline {
  if (number === 0) return { muted: 0 }
  return tone === undefined ? number.toLocaleString('en') : { strong: number.toLocaleString('en'), tone }
}

/** The SQL lately by shape, most time first. */
export function statementTable(statements: readonly StatementOverview[], base: string): Block {
  return {
    title: 'By SQL shape',
    lines: 'overview',
    columns: [{ label: 'Statement' }, example, tally, ...times],
    rows: statements.map(statement => [
      {
        link: { code: shortened(statement.sql, longestCell) },
        to: `${base}/search?${searchQuery({ statement: statement.sql }, 1)}`,
      },
      { code: statement.token },
      statement.count.toLocaleString('en'),
      ...timesOf(statement),
    ]),
  }
}

/** The exceptions lately: those that failed a request first, then the most frequent. */
export function exceptionTable(exceptions: readonly ExceptionOverview[], base: string): Block {
  return {
    title: 'By exception',
    lines: 'overview',
    columns: [
      { label: 'Exception' },
      example,
      { label: 'Over time', isWide: true, only: 'page' },
      tally,
      figures('Last'),
    ],
    rows: exceptions.map(({ token, exception, count, fails, last, slices }) => [
      {
        link: { strong: shortened(exception, longestCell), tone: fails ? 'error' : 'warning' },
        to: `${base}/search?${searchQuery({ exception: exceptionWords(exception) }, 1)}`,
      },
      { code: token },
      { html: renderSparkline(slices, 'count'), markdown: '' },
      countCell(count, fails ? 'error' : undefined),
      { muted: { html: renderAge(last), markdown: formatTime(last) } },
    ]),
  }
}
