import { exceptionWords } from '../../core/store/like-requests.ts'
import type { ExceptionOverview, Overview, RouteOverview, StatementOverview } from '../../core/store/overview.ts'
import type { Period } from '../../core/store/search-criteria.ts'
import { renderSeverity } from '../../core/view/elements.ts'
import { type Content, html, type Markup } from '../../core/view/html.ts'
import { code, plain, shortened, table } from '../../core/view/markdown.ts'
import { count, formatDuration, formatMilliseconds, formatTime, renderAge } from '../../core/view/units.ts'
import { searchQuery } from '../../core/view/urls.ts'
import { renderSparkline, slowFrom } from './profile-list.ts'

/** A route got slower if its median grew by this factor and this many milliseconds. */
const slowerBy = 1.5
const slowerFrom = 10
const enoughRequests = 20

/** What is wrong with a route. */
interface RouteTrouble {
  what: 'fails' | 'repeats' | 'slower'
  claim: string
  /** The newest exception; null if there was none. */
  detail: string | null
}

/** What is wrong with a route lately, in words. */
function troublesOf(route: RouteOverview): RouteTrouble[] {
  const name = routeName(route)
  const found: RouteTrouble[] = []
  if (route.failed > 0) {
    found.push({ what: 'fails', claim: `${name} fails: ${route.failed} of ${route.count}.`, detail: route.exception })
  }
  if (route.repeating > 0) {
    const claim = `${name} runs one query ${route.repeated} times (N+1), in ${route.repeating} of ${route.count} requests.`
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

/** Routes that are not folded. */
const routesOpen = 8

/** What matters lately: sentences first, then the requests by route, by statement and by exception. */
export function renderOverview(overview: Overview, period: Period, base: string): Markup {
  const { exceptions, failed, p95, refused, requests, routes, statements } = overview
  const findings = routes.flatMap(route => findingsOf(route, base)).slice(0, 5)
  return html`<section aria-labelledby="lately"><div class="head"><h1 id="lately">What matters lately</h1><span class="muted">${count(requests, 'request')}${failed > 0 && html` · <b class="text-error">${failed.toLocaleString('en')} failed</b>`}${refused > 0 && ` · ${refused.toLocaleString('en')} refused`} · p95 ${formatDuration(p95)}</span><nav class="right chips" aria-label="Period">${Object.entries(periodNames).map(([name, label]) => html`<a class="chip" href="${base}/?period=${name}"${name === period && html` aria-current="true"`}>${label}</a>`)}</nav></div>
${findings.length > 0 && html`<ul class="findings">${findings}</ul>`}</section>
<div class="two home"><section aria-labelledby="by-route"><h2 id="by-route">By route <small>failed first, then most time; ms; SQL is the median count</small></h2>${renderRoutes(routes.slice(0, routesOpen), base)}${renderMoreRoutes(routes.slice(routesOpen), base)}</section>
<div>${statements.length > 0 && html`<section aria-labelledby="by-statement"><h2 id="by-statement">By SQL shape <small>most time first; ms</small></h2>${renderStatements(statements, base)}</section>`}
${exceptions.length > 0 && html`<section aria-labelledby="by-exception"><h2 id="by-exception">By exception</h2>${renderExceptions(exceptions, base)}</section>`}</div></div>`
}

/** What is wrong with a route, in words that lead to its requests. */
function findingsOf(route: RouteOverview, base: string): Markup[] {
  return troublesOf(route).map(({ what, claim, detail }) =>
    renderFinding(
      what === 'fails' ? 'error' : 'warning',
      claim,
      detail,
      `${routeUrl(route, base)}${what === 'fails' ? '&status=5xx' : ''}`,
    ),
  )
}

function renderFinding(tone: 'error' | 'warning', claim: string, more: Content, url: string): Markup {
  return html`
<li>${renderSeverity(tone)}<p><b>${claim}</b> ${more}</p><a href="${url}">Requests</a></li>`
}

function routeUrl({ method, route }: RouteOverview, base: string): string {
  return `${base}/search?${searchQuery({ route: `=${route ?? ''}`, ...(route !== null && { method }) }, 1)}`
}

function renderRoutes(routes: readonly RouteOverview[], base: string): Markup {
  return html`<table class="lines overview"><caption class="sr-only">By route</caption><colgroup><col><col class="spark only-wide"><col class="count"><col class="ms only-wide"><col class="ms"><col class="ms only-wide"><col class="few only-wide"><col class="few"><col class="few only-wide"></colgroup>
<thead><tr><th scope="col">Route</th><th scope="col" class="only-wide">p95 over time</th><th scope="col" class="number">Count</th><th scope="col" class="number only-wide">p50</th><th scope="col" class="number">p95</th><th scope="col" class="number only-wide">Worst</th><th scope="col" class="number only-wide">4xx</th><th scope="col" class="number">5xx</th><th scope="col" class="number only-wide">SQL</th></tr></thead>
<tbody>${routes.map(
    route => html`
<tr><th scope="row"><a class="title" href="${routeUrl(route, base)}">${routeName(route)}</a></th><td class="only-wide">${renderSparkline(route.slices, 'p95')}</td><td class="number">${route.count.toLocaleString('en')}</td><td class="number only-wide">${formatMilliseconds(route.p50)}</td>${renderSlow(route.p95, '')}${renderSlow(route.worst, ' only-wide')}<td class="number only-wide">${renderCount(route.refused, '')}</td><td class="number">${renderCount(route.failed, 'text-error')}</td><td class="number only-wide${route.repeating > 0 && ' amber'}">${renderCount(route.queries, '')}</td></tr>`,
  )}
</tbody></table>`
}

function renderMoreRoutes(routes: readonly RouteOverview[], base: string): Markup | null {
  if (routes.length === 0) return null
  const requests = routes.reduce((sum, route) => sum + route.count, 0)
  return html`<details class="fold"><summary>${count(routes.length, 'more route')}, ${count(requests, 'request')}</summary>${renderRoutes(routes, base)}</details>`
}

function renderSlow(ms: number, className: string): Markup {
  return html`<td class="number${className}${ms >= slowFrom && ' amber'}">${formatMilliseconds(ms)}</td>`
}

function renderCount(number: number, className: string): Markup {
  return html`<span class="${number === 0 ? 'muted' : className}">${number.toLocaleString('en')}</span>`
}

function renderStatements(statements: readonly StatementOverview[], base: string): Markup {
  return html`<table class="lines overview"><caption class="sr-only">By SQL shape</caption><colgroup><col><col class="count"><col class="ms only-wide"><col class="ms"><col class="ms only-wide"></colgroup>
<thead><tr><th scope="col">Statement</th><th scope="col" class="number">Count</th><th scope="col" class="number only-wide">p50</th><th scope="col" class="number">p95</th><th scope="col" class="number only-wide">Worst</th></tr></thead>
<tbody>${statements.map(
    ({ sql, count: times, p50, p95, worst }) => html`
<tr><th scope="row"><a class="title" href="${base}/search?${searchQuery({ statement: sql }, 1)}">${sql}</a></th><td class="number">${times.toLocaleString('en')}</td><td class="number only-wide">${formatMilliseconds(p50)}</td>${renderSlow(p95, '')}${renderSlow(worst, ' only-wide')}</tr>`,
  )}
</tbody></table>`
}

function renderExceptions(exceptions: readonly ExceptionOverview[], base: string): Markup {
  return html`<table class="lines overview"><caption class="sr-only">By exception</caption><colgroup><col><col class="spark only-wide"><col class="count"><col class="when"></colgroup>
<thead><tr><th scope="col">Exception</th><th scope="col" class="only-wide">Over time</th><th scope="col" class="number">Count</th><th scope="col" class="number">Last</th></tr></thead>
<tbody>${exceptions.map(
    ({ exception, count: times, fails, last, slices }) => html`
<tr><th scope="row"><a class="thrown ${fails ? 'error' : 'warning'}" href="${base}/search?${searchQuery({ exception: exceptionWords(exception) }, 1)}">${exception}</a></th><td class="only-wide">${renderSparkline(slices, 'count')}</td><td class="number${fails && ' text-error'}">${times.toLocaleString('en')}</td><td class="number muted">${renderAge(last)}</td></tr>`,
  )}
</tbody></table>`
}

/** Bytes of a text in a list. */
const longestCell = 160

/** What is wrong with routes lately, each with the request to look at. Empty if nothing is. */
export function troublesMarkdown({ routes }: Overview): string {
  return routes
    .flatMap(route =>
      troublesOf(route).map(
        ({ claim, detail }) =>
          `- ${code(route.token)}: ${plain(shortened(`${claim} ${detail ?? ''}`, 2 * longestCell))}`,
      ),
    )
    .join('\n')
}

/** The requests lately by route: those that failed first, then most time. */
export function routeTable({ routes }: Overview): string {
  return table(
    ['Profile', 'Route', 'Count', 'p50', 'p95', 'Worst', '4xx', '5xx', 'SQL'],
    routes.map(route => [
      code(route.token),
      code(shortened(routeName(route), longestCell)),
      String(route.count),
      formatDuration(route.p50),
      formatDuration(route.p95),
      formatDuration(route.worst),
      String(route.refused),
      String(route.failed),
      String(route.queries),
    ]),
  )
}

/** The exceptions lately: those that failed a request first, then the most frequent. */
export function exceptionTable({ exceptions }: Overview): string {
  return table(
    ['Profile', 'Exception', 'Count', 'Last'],
    exceptions.map(({ token, exception, count, last }) => [
      code(token),
      plain(shortened(exception, longestCell)),
      String(count),
      formatTime(last),
    ]),
  )
}

/** The SQL lately by shape, most time first. */
export function statementTable({ statements }: Overview): string {
  return table(
    ['Profile', 'Statement', 'Count', 'p50', 'p95', 'Worst'],
    statements.map(({ token, sql, count, p50, p95, worst }) => [
      code(token),
      code(shortened(sql, longestCell)),
      String(count),
      formatDuration(p50),
      formatDuration(p95),
      formatDuration(worst),
    ]),
  )
}
