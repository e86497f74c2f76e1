import { basename } from 'node:path'
import { cutToBytes } from './fit-markdown.ts'
import { ofException } from './like-requests.ts'
import {
  type ExceptionOverview,
  failures,
  type Overview,
  type StatementOverview,
  type RouteOverview,
  type RouteTrouble,
} from './overview.ts'
import { type Period, searchQuery } from './search-criteria.ts'
import { groupBy } from '../../core/group-by.ts'
import { type Block, type Blocks, blocksHtml, type Finding, type Inline } from '../../core/view/block.ts'
import { figures, locationText, type Place } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { code } from '../../core/view/markdown.ts'
import { endsOf } from '../../core/statement-shape.ts'
import {
  count,
  formatDuration,
  formatMilliseconds,
  formatNumber,
  formatTime,
  renderAge,
  renderClock,
} from '../../core/view/units.ts'
import { kindView } from '../performance/exclusive-time.ts'
import { slowRequestFrom } from './profile-list.ts'

interface RouteFinding extends Finding {
  what: string
  route: string
  /** How many requests have it. */
  requests: number
  /** The same on all routes that share the code with the trouble; null if its line is not known. */
  cause: string | null
}

/** What is wrong with a route lately, in words, the worst first. */
function findingsOf(route: RouteOverview, base: string): RouteFinding[] {
  const { count: all, examined, failed, reasons, slower, token } = route
  const name = cutToBytes(routeName(route), longestCell)
  const url = routeUrl(route, base)
  const found = (trouble: Omit<RouteTrouble, 'what'> & { what: string }, said: Inline) => {
    const { claim, count: requests, detail, location, token, what } = trouble
    // One line may send all queries, so the texts must agree, too, except for how long something took.
    const told = `${claim} ${detail}`
    const isFailure = failures.has(what)
    const text = isFailure ? told : told.replace(/ \(.*?\)|[\d.,]+/g, '')
    return {
      what,
      route: name,
      requests,
      cause: location && `${what} ${locationText(location, '')} ${text}`,
      tone: isFailure ? ('error' as const) : ('warning' as const),
      claim: said,
      detail,
      places: [location ?? []].flat(),
      aside: { html: html``, markdown: code(token) },
    }
  }
  const these = (some: number, of: number, to = url) => ({
    link: `${some.toLocaleString('en')} of ${of.toLocaleString('en')}`,
    to,
  })
  const untold = { claim: '', location: null, token, count: all }
  const fails = { ...untold, ...reasons[0], what: 'fails', detail: reasonsText(route), count: failed }
  return [
    ...(failed > 0 ? [found(fails, [`${name} fails: `, these(failed, all, `${url}&status=5xx`), '.'])] : []),
    ...route.troubles
      .filter(({ what }) => what !== 'fails')
      .map(trouble => {
        const said = cutToBytes(trouble.claim, longestCell).replace(/\.$/, '')
        const requests = examined < all ? ' examined requests.' : ' requests.'
        const detail = cutToBytes(trouble.detail, longestCell)
        return found({ ...trouble, detail }, [`${name}: ${said}, in `, these(trouble.count, examined), requests])
      }),
    ...(slower === null
      ? []
      : [found({ ...untold, what: 'slower', detail: kindText(slower) }, [`${name} `, ...slowerText(slower, url)])]),
  ]
}

/** Why requests of a route failed: most of them, and then how many others, with the next reason. */
function reasonsText({ failed, reasons }: RouteOverview): string {
  const [first, second] = reasons.map(({ count, detail }) => ({ count, text: cutToBytes(detail, longestCell) }))
  if (first === undefined || second === undefined) return first?.text ?? ''
  const others = failed - first.count
  const before = others > second.count ? ', such as' : ':'
  return `${first.text.replace(/\.$/, '')}. ${count(others, 'other')}${before} ${second.text}`
}

type Slower = NonNullable<RouteOverview['slower']>

function slowerText({ before, after, since }: Slower, to: string): Inline[] {
  const time = { html: renderClock(since), markdown: formatTime(since) }
  return [{ link: 'got slower', to }, `: p50 ${formatNumber(before)} → ${formatDuration(after)} since `, time, '.']
}

function kindText({ kind }: Slower): string {
  if (kind === null) return ''
  return `${kindView(kind.name).label}: p50 ${formatNumber(kind.before)} → ${formatDuration(kind.after)}.`
}

function routeName({ method, route }: Pick<RouteOverview, 'method' | 'route'>): string {
  return route === null ? 'no route' : `${method} ${route}`
}

const periodNames: Record<Period, string> = { '15min': '15 min', '1h': '1 h', all: 'All' }

const findingsShown = 6
const namesShown = 3

/** Rows of a table that are not folded. */
const rowsOpen = 5

/** What matters lately in sentences: one of each kind of trouble before the second of any. */
export function renderTroubles(overview: Overview, period: Period, base: string, place: Place): Markup {
  const { failed, p95, refused, requests } = overview
  const troubles = troublesLately(overview, base)
  const others = troubles.slice(findingsShown)
  const names = [...new Set(others.map(({ route }) => route))]
  const more = names.length > namesShown ? ', …' : ''
  const fold = `${others.length} more: ${names.slice(0, namesShown).join(', ')}${more}`
  const findings: Blocks = [
    { findings: troubles.slice(0, findingsShown) },
    others.length > 0 && { fold, blocks: [{ findings: others }] },
  ]
  return html`<section><div class="head"><h1>What matters lately</h1><span class="muted">${count(requests, 'request')}${failed > 0 && html` · <b class="error">${failed.toLocaleString('en')} failed</b>`}${refused > 0 && ` · ${refused.toLocaleString('en')} refused`}${requests > 0 && ` · p95 ${formatDuration(p95)}`}</span><nav class="right chips" aria-label="Period">${Object.entries(periodNames).map(([name, label]) => html`<a class="chip" href="${base}/?period=${name}"${name === period && html` aria-current="true"`}>${label}</a>`)}</nav></div>
${blocksHtml(findings, place)}</section>`
}

/** The requests lately by route, by statement and by exception, beside each other. */
export function renderTables({ exceptions, left, routes, statements }: Overview, base: string, place: Place): Markup {
  const tables = [
    ['By route', 'failed first', folded(routes, left.routes, 'more route', some => routeTable(some, base))],
    [
      'By query shape',
      'most time first',
      folded(statements, left.statements, 'more statement', some => statementTable(some, base)),
    ],
    [
      'By exception',
      'failed first',
      folded(exceptions, left.exceptions, 'more exception', some => exceptionTable(some, base)),
    ],
  ] as const
  const sections = tables.flatMap(([section, note, blocks]) => (blocks.length === 0 ? [] : [{ section, note, blocks }]))
  return html`<div class="home">${blocksHtml(sections, place, 2)}</div>`
}

/** A table of the first rows, and a folded one of the others. @param left those that are not even there */
function folded<Row extends { count: number }>(
  rows: readonly Row[],
  left: number,
  what: string,
  tableOf: (rows: readonly Row[]) => Block,
): Blocks {
  if (rows.length === 0) return []
  const others = rows.slice(rowsOpen)
  const asked = others.reduce((sum, { count }) => sum + count, 0)
  const unlisted = left > 0 ? `, and ${left.toLocaleString('en')} that are not listed` : ''
  return [
    tableOf(rows.slice(0, rowsOpen)),
    others.length > 0 && {
      fold: `${count(others.length, what)}, ${asked.toLocaleString('en')} times${unlisted}`,
      blocks: [tableOf(others)],
    },
  ]
}

/**
 * What is wrong with routes lately, each with its requests, or for a text with one to look at. What several routes have
 * from the same code is told once. Crashes come first, then the first of each kind, then all others.
 */
export function troublesLately({ routes }: Pick<Overview, 'routes'>, base: string): RouteFinding[] {
  const kinds = new Set<string>()
  const found = routes.flatMap(route => findingsOf(route, base))
  const ranked = [...groupBy(found, finding => finding.cause ?? finding).values()].map(group => {
    const finding = onMostRequests(group)
    const rank = finding.what === 'crash' ? -1 : kinds.has(finding.what) ? 2 : 0
    kinds.add(finding.what)
    return { finding, rank: rank + Number(finding.tone !== 'error') }
  })
  return ranked.sort((one, other) => one.rank - other.rank).map(({ finding }) => finding)
}

/** A trouble that routes share, told of the route that has it most often. */
function onMostRequests(group: readonly [RouteFinding, ...RouteFinding[]]): RouteFinding {
  const most = group.reduce((one, other) => (other.requests > one.requests ? other : one))
  if (group.length === 1) return most
  return { ...most, claim: [most.claim, ` ${group.length} routes have it, this one most often.`] }
}

function routeUrl({ method, route }: RouteOverview, base: string): string {
  return `${base}/search?${searchQuery({ route: `=${route ?? ''}`, ...(route !== null && { method }) }, 1)}`
}

/** Bytes of a text in a list. */
const longestCell = 160

/** What links to all requests of a row in a page, and leads to one of them in a text. */
const inText = { only: 'text' } as const
const example = { label: 'Profile', ...inText }
const tally = figures('Count')
const times = [{ label: 'p50', ...inText }, figures('p95 ms'), { label: 'Worst', ...inText }]
const inOneRequest = ['p50', 'p95'].map(name => ({ label: `${name} per request`, ...inText }))

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
      tally,
      ...times,
      { label: '4xx', ...inText },
      figures('5xx'),
      figures('Most queries', true),
    ],
    rows: routes.map(route => [
      { link: { code: cutToBytes(routeName(route), longestCell) }, to: routeUrl(route, base) },
      { code: route.token },
      route.count.toLocaleString('en'),
      ...timesOf(route),
      countCell(route.refused),
      countCell(route.failed, 'error'),
      countCell(route.queries, route.troubles.some(({ what }) => what === 'repeated') ? 'warning' : undefined),
    ]),
  }
}

function slowCell(ms: number): Inline {
  return ms >= slowRequestFrom ? { strong: formatMilliseconds(ms), tone: 'warning' } : formatMilliseconds(ms)
}

function countCell(number: number, tone?: 'error' | 'warning'): Inline {
  if (number === 0) return { muted: 0 }
  return tone === undefined ? number.toLocaleString('en') : { strong: number.toLocaleString('en'), tone }
}

/** Characters of the beginning of a long statement in a list, whose end tells it from others. */
const longestHead = 72

function statementText({ length = 0, sql }: StatementOverview): string {
  const [head, tail] = endsOf(sql) ?? []
  if (head === undefined || tail === undefined) return cutToBytes(sql, longestCell)
  const start = head.slice(0, longestHead)
  return `${start}… (${(length - start.length - tail.length).toLocaleString('en')} more characters) …${tail}`
}

export function statementTable(statements: readonly StatementOverview[], base: string): Block {
  return {
    title: 'By query shape',
    lines: 'overview',
    columns: [{ label: 'Statement' }, example, tally, ...inOneRequest, figures('Slowest ms')],
    rows: statements.map(statement => [
      {
        link: { code: statementText(statement) },
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
    columns: [{ label: 'Exception' }, example, tally, figures('Last')],
    rows: exceptions.map(({ token, exception, messages, thrownAt, count, fails, last }) => [
      [
        {
          link: { strong: cutToBytes(exception, longestCell), tone: fails ? 'error' : 'warning' },
          to: `${base}/search?${searchQuery(ofException({ exception, thrownAt }), 1)}`,
        },
        messages > 1 ? ` (1 of ${messages.toLocaleString('en')} messages)` : null,
        thrownAt === undefined ? null : { small: ` ${basename(thrownAt)}` },
      ],
      { code: token },
      countCell(count, fails ? 'error' : undefined),
      { muted: { html: renderAge(last), markdown: formatTime(last) } },
    ]),
  }
}
