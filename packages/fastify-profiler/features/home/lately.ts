import { exceptionWords } from '../../core/store/like-requests.ts'
import type { Overview, RouteOverview } from '../../core/store/overview.ts'
import type { Period } from '../../core/store/search-criteria.ts'
import type { ProfileSummary } from '../../core/summary.ts'
import { type Block, blocksHtml, type Finding, type Inline } from '../../core/view/block.ts'
import { figures, noPlace } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { code, shortened } from '../../core/view/markdown.ts'
import { count, formatDuration, formatMilliseconds, formatTime, renderAge } from '../../core/view/units.ts'
import { profileUrl, searchQuery } from '../../core/view/urls.ts'
import { renderSparkline, slowFrom } from './profile-list.ts'

/** A route got slower if its median grew by this factor and this many milliseconds. */
const slowerBy = 1.5
const slowerFrom = 10
const enoughRequests = 20

/** What is wrong with a route. */
interface RouteTrouble {
  what: 'fails' | 'swallows' | 'repeats' | 'slower'
  claim: string
  /** The newest exception or failure; null if there was none. */
  detail: string | null
}

/** What is wrong with a route lately, in words. */
function troublesOf(route: RouteOverview): RouteTrouble[] {
  const name = routeName(route)
  const found: RouteTrouble[] = []
  if (route.failed > 0) {
    found.push({ what: 'fails', claim: `${name} fails: ${route.failed} of ${route.count}.`, detail: route.exception })
  }
  const { calls = 0, errors = 0, first = null, queries = 0 } = route.swallowing ?? {}
  for (const [count, what] of [
    [queries, 'a failed query'],
    [calls, 'a failed call'],
    [errors, 'an error that nobody caught'],
  ] as const) {
    const claim = `${name} answers in spite of ${what}: ${count} of ${route.count}.`
    if (count > 0) found.push({ what: 'swallows', claim, detail: first })
  }
  if (route.repeating > 0) {
    const [what, how] = route.repeatedWrites ? ['statement', ', one at a time'] : ['query', ' (N+1)']
    const claim = `${name} runs one ${what} ${route.repeated} times${how}, in ${route.repeating} of ${route.count} requests.`
    found.push({ what: 'repeats', claim, detail: null })
  }
  const [before, after] = halves(route)
  if (before > 0 && after >= before * slowerBy && after - before >= slowerFrom && route.count >= enoughRequests) {
    const claim = `${name} got slower: p95 ${formatDuration(before)} → ${formatDuration(after)}.`
    found.push({ what: 'slower', claim, detail: null })
  }
  return found
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

const findingsShown = 5

/** Routes that are not folded. */
const routesOpen = 8

/** What matters lately: sentences first, then the requests by route, by statement and by exception. */
export function renderOverview(overview: Overview, period: Period, base: string): Markup {
  const { exceptions, failed, p95, refused, requests, routes, statements } = overview
  const part = (section: string, note: string | undefined, ...blocks: Block[]) =>
    blocksHtml([{ section, ...(note !== undefined && { note }), blocks }], noPlace, 2)
  const more = routes.slice(routesOpen)
  const asked = more.reduce((sum, route) => sum + route.count, 0)
  return html`<section><div class="head"><h1>What matters lately</h1><span class="muted">${count(requests, 'request')}${failed > 0 && html` · <b class="text-error">${failed.toLocaleString('en')} failed</b>`}${refused > 0 && ` · ${refused.toLocaleString('en')} refused`} · p95 ${formatDuration(p95)}</span><nav class="right chips" aria-label="Period">${Object.entries(periodNames).map(([name, label]) => html`<a class="chip" href="${base}/?period=${name}"${name === period && html` aria-current="true"`}>${label}</a>`)}</nav></div>
${blocksHtml([{ findings: troublesLately(overview, base).slice(0, findingsShown) }], noPlace)}</section>
<div class="two home">${part(
    'By route',
    'failed first, then most time; ms; SQL is the median count',
    routeTable(routes.slice(0, routesOpen), base),
    ...(more.length === 0
      ? []
      : [
          { fold: `${count(more.length, 'more route')}, ${count(asked, 'request')}`, blocks: [routeTable(more, base)] },
        ]),
  )}<div>${statements.length > 0 && part('By SQL shape', 'most time first; ms', statementTable(overview, base))}
${exceptions.length > 0 && part('By exception', undefined, exceptionTable(overview, base))}</div></div>`
}

/** The crash of the process, as a line of its own. */
function crashLine({ crash = 0, exception, method, token, url }: ProfileSummary, base: string): Finding {
  return {
    tone: 'error',
    claim: [
      `The process crashed at ${formatTime(crash)} in work of `,
      { code: shortened(`${method} ${url}`, longestCell) },
      '.',
    ],
    detail: shortened(exception ?? '', longestCell),
    aside: { html: html`<a href="${profileUrl(base, token, 'exception')}">Profile</a>`, markdown: code(token) },
  }
}

/** What is wrong lately: a crash, then with routes, each with its requests, or for a text with one to look at. */
export function troublesLately({ crash, routes }: Pick<Overview, 'crash' | 'routes'>, base: string): Finding[] {
  const found = routes.flatMap(route =>
    troublesOf(route).map(({ what, claim, detail }) => {
      const url = `${routeUrl(route, base)}${what === 'fails' ? '&status=5xx' : ''}`
      return {
        tone: what === 'fails' || what === 'swallows' ? 'error' : 'warning',
        claim: shortened(claim, longestCell),
        detail: shortened(detail ?? '', longestCell),
        aside: { html: html`<a href="${url}">Requests</a>`, markdown: code(route.token) },
      } satisfies Finding
    }),
  )
  return crash === null ? found : [crashLine(crash, base), ...found]
}

function routeUrl({ method, route }: RouteOverview, base: string): string {
  return `${base}/search?${searchQuery({ route: `=${route ?? ''}`, ...(route !== null && { method }) }, 1)}`
}

/** Bytes of a text in a list. */
const longestCell = 160

/** What links to all requests of a row in a page, and leads to one of them in a text. */
const example = { label: 'Profile', only: 'text' } as const
const tally = figures('Count', 'count')
const times = [figures('p50', 'ms', true), figures('p95', 'ms'), figures('Worst', 'ms', true)]

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
      { label: 'p95 over time', width: 'spark', isWide: true, only: 'page' },
      tally,
      ...times,
      figures('4xx', 'few', true),
      figures('5xx', 'few'),
      figures('SQL', 'few', true),
    ],
    rows: routes.map(route => [
      { link: { code: shortened(routeName(route), longestCell) }, to: routeUrl(route, base) },
      { code: route.token },
      { html: renderSparkline(route.slices, 'p95'), markdown: '' },
      route.count.toLocaleString('en'),
      ...timesOf(route),
      countCell(route.refused),
      countCell(route.failed, 'error'),
      countCell(route.queries, route.repeating > 0 ? 'warning' : undefined),
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
export function statementTable({ statements }: Overview, base: string): Block {
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
export function exceptionTable({ exceptions }: Overview, base: string): Block {
  return {
    title: 'By exception',
    lines: 'overview',
    columns: [
      { label: 'Exception' },
      example,
      { label: 'Over time', width: 'spark', isWide: true, only: 'page' },
      tally,
      figures('Last', 'when'),
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
