import t from 'tap'
import { noPlace } from '../../core/view/elements.ts'
import type { ProfileSummary, SearchCriteria, SearchResult } from '../../core/summary.ts'
import { overviewOf, type Overview } from '../../features/home/overview.ts'
import { blocksMarkdown } from '../../core/view/block.ts'
import { escape } from '../../core/view/html.ts'
import { renderProfileList, type ListOptions } from '../../features/home/profile-list.ts'
import { exceptionTable, routeTable, statementTable, troublesLately } from '../../features/home/lately.ts'
import { renderNotFoundPage } from '../../features/home/not-found-page.ts'
import { renderSearchBar, renderSearchMarkdown, renderSearchPage } from '../../features/home/search-page.ts'
import { readableUrl, searchQuery } from '../../core/view/urls.ts'
import { makeFolder } from '../folder.ts'
import { failedProfile, profile, summary } from './example-profile.ts'

const options = { base: '/_profiler', root: '', labels: ['license'] }
const summaries = [
  summary(profile()),
  summary(failedProfile({ host: null, ip: null, routing: { ...profile().routing, matched: null } })),
  summary(profile({ status: null, outcome: 'aborted', labels: {} })),
]
const everything: SearchCriteria = {
  token: 'abc',
  method: 'POST',
  status: '>=400',
  url: '/a?b',
  route: '/:id',
  host: 'louvre.example',
  ip: '::1',
  exception: 'MuseumError',
  parent: 'cba',
  sql: '>10',
  statement: 'from museums',
  text: 'free words',
  durationFrom: 5,
  durationTo: 10,
  timeFrom: Date.UTC(2026, 10, 21, 1, 11, 7),
  timeTo: Date.UTC(2026, 10, 22),
  labels: { license: 'Louvre' },
  perPage: 50,
}

function result(changes: Partial<SearchResult> = {}): SearchResult {
  return { criteria: {}, problems: [], profiles: summaries, total: 3, page: 1, pages: 1, ...changes }
}

t.test('the form has every search criterion, filled in from the search', async t => {
  const form = String(renderSearchBar(everything, { ...options, panel: 'exception' }))
  t.match(form, '<option selected>POST')
  t.match(String(renderSearchBar({ method: 'PROPFIND' }, options)), '<option selected>PROPFIND')
  t.match(form, /name="timeFrom"[^>]*value="2026-11-21T01:11:07"/)
  const { method, parent, perPage, ...fields } = Object.fromEntries(new URLSearchParams(searchQuery(everything, 1)))
  t.same({ method, parent, perPage }, { method: 'POST', parent: 'cba', perPage: '50' }, 'these are no text fields')
  for (const [name, value] of Object.entries({ ...fields, panel: 'exception' })) {
    if (!name.startsWith('time')) {
      t.match(form, new RegExp(`name="${name}"[^>]*value="${escape(value).replace('?', '.')}"`))
    }
  }
})

const search = (changes: Partial<SearchResult> = {}, others: object = {}) =>
  renderSearchPage(result(changes), { ...options, ...others })

t.test('the fields are folded below one search box, which has the search in words', async t => {
  const page = search({ criteria: { status: '5xx', text: 'louvre' } }, { panel: 'logs' })
  for (const each of [page, renderNotFoundPage({ what: 'part', why: 'Gone.' }, summaries, options)]) {
    t.match(each, /<form class="search-box".*<input type="search" name="q".*<details class="fold">/s)
  }
  t.match(page, 'value="status:5xx louvre"')
})

t.test('every field of the form has a label', async t => {
  const form = String(renderSearchBar({}, options))
  for (const [tag] of form.matchAll(/<(?:input|select)[^>]*>/g)) {
    const id = / id="([^"]+)"/.exec(tag)?.[1]
    t.ok(tag.includes('aria-label') || form.includes(`<label for="${id}"`), tag)
  }
})

const [summaryOfFirst] = summaries as [ProfileSummary]

const rows = (profiles: readonly ProfileSummary[], changes: Partial<ListOptions> = {}) =>
  String(renderProfileList(profiles, { base: '/_profiler', ...changes }))
const text = (page: string) => page.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

t.test('the page lists the latest requests or the number of results, or says that there are none', async t => {
  t.match(text(search({ criteria: { page: 1, perPage: 20 } })), 'Requests 3 ')
  const found = search({ criteria: { status: '500' } }, { panel: 'exception' })
  t.match(text(found), '3 requests found')
  t.match(found, 'href="/_profiler/k3Jx9PzQ4wTn?panel=exception"')
  t.match(search({ profiles: [], total: 0, criteria: { url: 'x' } }), 'No stored request matches.')
  t.match(search({ profiles: [], total: 0 }), 'No requests stored yet.')
})

t.test('a row has status, request, time, queries, size and age, and links to the profile', async t => {
  const page = rows(summaries)
  t.match(
    page,
    /badge good" title="200 OK">200<.*href="\/_profiler\/k3Jx9PzQ4wTn"><code>GET \/museums\/7\?lang=fr&amp;page=2<.*24\.6.*<rect class="sql" x="0%" y="0" width="14.76%".*>2<.*3\.40.*5\.12.*d ago/s,
  )
  t.match(page, /"error">MuseumError.*1 logged error/s)
  t.match(page, /badge warning" title="No response">–<.*client went away/s)
})

t.test('a request without queries, body or route has no zeros', async t => {
  const page = rows([{ ...summaryOfFirst, queries: { count: 0, duration: 0 }, size: 0, status: 404, route: null }])
  t.match(
    page,
    /<td class="number only-wide"><\/td><td class="number only-wide"><\/td><td class="number only-wide"><\/td>/,
  )
  t.match(page, 'no route')
  t.match(rows([{ ...summaryOfFirst, size: null }]), '<td class="number only-wide"></td>')
})

t.test('what is the same in every row is said once below, and what differs has a column', async t => {
  const same = text(rows([summaryOfFirst, { ...summaryOfFirst, ip: '::1' }]))
  t.match(same, 'Status Request IP ms')
  t.match(same, 'The same in every row: Host louvre.example, License Louvre.')
  t.match(text(rows([summaryOfFirst, { ...summaryOfFirst, labels: {} }])), /Request License ms .*Louvre/)
  t.notMatch(rows([{ ...summaryOfFirst, host: null, ip: null, labels: {} }]), 'The same in every row')
})

t.test('slow requests and repeated queries are marked', async t => {
  const page = rows([{ ...summaryOfFirst, duration: 184, repeated: 20 }])
  t.match(page, /number warning">184.*number only-wide warning">2</)
  t.match(page, 'N+1: 20 queries of one shape')
})

t.test('a row that stands for equal requests at regular intervals says so, and leads to all of them', async t => {
  t.match(
    rows(summaries.slice(0, 1), { polls: { k3Jx9PzQ4wTn: 214 } }),
    /<tr class="polls" data-key="200 GET [^"]*">.*href="\/_profiler\/search\?method=GET&amp;url=%2Fmuseums%2F7%3Flang%3Dfr%26page%3D2">214 requests at regular intervals/s,
  )
})

t.test('a live list asks for rows with its columns and its panel', async t => {
  t.match(
    rows(summaries, { isLive: true }),
    'data-live="/_profiler/events?origin=Host&amp;origin=IP&amp;origin=License"',
  )
  t.match(rows([], { isLive: true, panel: 'logs' }), 'data-live="/_profiler/events?panel=logs"')
})

t.test('the columns of a search sort it, and the list of another page cannot be sorted', async t => {
  const page = rows(summaries, { criteria: { status: '200', sort: 'duration', page: 2 }, panel: 'logs' })
  t.match(
    page,
    /aria-sort="descending"><a href="\/_profiler\/search\?status=200&amp;sort=duration&amp;panel=logs">ms ↓/,
  )
  t.match(page, 'href="/_profiler/search?status=200&amp;sort=sqlTime&amp;panel=logs">Query ms<')
  t.match(page, 'href="/_profiler/search?status=200&amp;panel=logs">When<')
  t.match(rows(summaries, { criteria: {} }), 'href="/_profiler/search">When ↓<')
  t.notMatch(rows(summaries), 'aria-sort')
})

const minute = 60_000
const requests = (count: number, changes: (n: number) => Partial<ProfileSummary>) =>
  Array.from({ length: count }, (_, n) => ({ ...summaryOfFirst, statements: [], ...changes(n) }))
const statements = [{ sql: 'select * from products where id = $1', count: 1, duration: 18, slowest: 18 }]
const failing = { status: 500, exception: 'OrderError: order 7 failed' }
const checkouts = requests(36, n => ({
  method: 'POST',
  route: '/checkout',
  time: (n * minute) / 3,
  duration: n < 18 ? 20 : 60,
  ...(n > 31 && failing),
}))
const troubles = [{ what: 'repeated', claim: 'N+1: 20 queries.', detail: '', location: null }] as const
const carts = requests(8, n => ({
  route: '/cart',
  time: n * minute,
  duration: 18,
  ...(n < 7 && { troubles }),
  statements,
}))
const missing = requests(16, () => ({ route: null, time: 0, duration: 2, status: 404, exception: 'NotFoundError: no' }))
const lately = overviewOf([...checkouts, ...carts, ...missing], 0, 12 * minute)
const home = (overview: Overview) => renderSearchPage(result(), options, { overview, period: '1h', place: noPlace })

t.test('the home page starts with what matters lately, in words that lead to the requests', async t => {
  const page = text(home(lately))
  t.match(page, /What matters lately 60 requests · 4 failed · 16 refused · p95 60\.0 ms 15 min 1 h All/)
  t.match(page, 'POST /checkout fails: 4 of 36 . OrderError: order 7 failed')
  t.match(home(lately), 'href="/_profiler/search?route=%3D%2Fcheckout&amp;method=POST&amp;status=5xx">4 of 36<')
  t.match(home(lately), /period=1h" aria-current="true"/)
})

t.test('routes, statements and exceptions have their figures, and lead to their requests', async t => {
  const tables = [
    routeTable(lately.routes, ''),
    statementTable(lately.statements, ''),
    exceptionTable(lately.exceptions, ''),
  ]
  const markdown = blocksMarkdown(tables, '').replaceAll('`k3Jx9PzQ4wTn`', 'token')
  t.match(markdown, '| `POST /checkout` | token | 36 | 20.0 | 60.0 | 60.0 | 0 | 4 | 2 |')
  t.match(markdown, '| `GET /cart` | token | 8 | 18.0 | 18.0 | 18.0 | 0 | 0 | 2 |')
  t.match(markdown, '| `no route` | token | 16 | 2.00 | 2.00 | 2.00 | 16 | 0 | 2 |')
  t.match(markdown, '| `select * from products where id = $1` | token | 8 | 18.0 | 18.0 | 18.0 |')
  t.match(markdown, '| OrderError: order 7 failed | token | 4 |')
  t.match(home(lately), /search\?statement=select\+\*\+from\+products.*search\?exception=OrderError%3A\+order/s)
})

t.test('what is wrong with a route leads to its requests, or for a text to one of them', async t => {
  const told = blocksMarkdown([{ findings: troublesLately(lately, '/_profiler') }], '').replaceAll('\\', '')
  t.match(told, '- POST /checkout fails: 4 of 36. OrderError: order 7 failed `k3Jx9PzQ4wTn`\n')
  t.match(told, '- POST /checkout got slower: p50 20.0 → 60.0 ms since 1970-01-01 00:06:00.000 UTC.')
  t.match(told, '- GET /cart: N+1: 20 queries, in 7 of 8 requests.')
})

t.test('without requests the home page has no overview, and without trouble no findings', async t => {
  t.notMatch(home(overviewOf([], 0, 1)), 'What matters lately')
  const quiet = home(
    overviewOf(
      requests(9, () => ({ route: '/quiet', time: 0 })),
      0,
      minute,
    ),
  )
  t.notMatch(quiet, /class="findings"|By query shape|By exception| failed<| refused/)
})

t.test('page links lead to newer and older profiles and keep the search', async t => {
  const middle = search({ criteria: { url: 'a', page: 2 }, page: 2, pages: 3 }, { panel: 'logs' })
  t.match(middle, 'rel="prev" href="/_profiler/search?url=a&amp;panel=logs"')
  t.match(middle, 'rel="next" href="/_profiler/search?url=a&amp;page=3&amp;panel=logs"')
  t.notMatch(search({ page: 1, pages: 2 }), 'rel="prev"')
  const last = search({ page: 2, pages: 2 })
  t.match(last, 'rel="prev" href="/_profiler/search"')
  t.notMatch(last, 'rel="next"')
})

t.test('the Markdown of a search is a table, with the page number if there are several', async t => {
  t.match(
    renderSearchMarkdown(result({ pages: 2 }), '/_profiler'),
    /^# Requests: 3.*\| `\/_profiler\/k3Jx9PzQ4wTn` \| 200 \| `GET \/museums\/7.*\| none \|.*Page 1 of 2\./s,
  )
})

t.test('the top bar names the application, if its folder does', async t => {
  const brand = (folder: Parameters<typeof makeFolder>[0]) =>
    text(/<a class="brand.*?<\/a>/.exec(search({}, { root: makeFolder(folder) }))?.[0] ?? '').trim()
  t.equal(brand({ 'package.json': '{ "name": "<b>shop" }' }), '&lt;b&gt;shop profiler')
  for (const content of ['{}', '{ "name": 7 }', 'no JSON']) t.equal(brand({ 'package.json': content }), 'Profiler')
  t.equal(brand({}), 'Profiler')
})

t.test('URLs are decoded for reading, unless that would change, hide or rearrange something', async t => {
  for (const [url, read] of [
    ['/caf%C3%A9/%F0%9F%8E%A8?q=blue%20%22sky%22', '/café/🎨?q=blue "sky"'],
    ['/a%2Fb%3Fc%3D%26%25%C3%A9', '/a%2Fb%3Fc%3D%26%25é'],
    ['/%00%0A%E2%80%AE%E2%80%8B%C2%A0', '/%00%0A%E2%80%AE%E2%80%8B%C2%A0'],
    ['/%zz%C3', '/%zz%C3'],
  ] as const) {
    t.equal(readableUrl(url), read)
  }
})
