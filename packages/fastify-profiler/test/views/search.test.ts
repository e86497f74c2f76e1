import t from 'tap'
import { noPlace } from '../../core/view/elements.ts'
import type { ProfileSummary, SearchCriteria, SearchResult } from '../../core/summary.ts'
import { overviewOf, type Overview } from '../../features/home/overview.ts'
import { escape } from '../../core/view/html.ts'
import { renderProfileList, type ListOptions } from '../../features/home/profile-list.ts'
import { renderSearchBar, renderSearchMarkdown, renderSearchPage } from '../../features/home/search-page.ts'
import { readableUrl } from '../../core/urls.ts'
import { searchQuery } from '../../features/home/search-criteria.ts'
import { failedProfile, profile, summary, textOf } from './example-profile.ts'

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

t.test('the page lists the latest requests or the number of results, or says that there are none', async t => {
  t.match(textOf(search({ criteria: { page: 1, perPage: 20 } })), 'Requests 3 ')
  const found = search({ criteria: { status: '500' } }, { panel: 'exception' })
  t.match(textOf(found), '3 requests found')
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
const failing = { status: 500, exception: 'OrderError: order 7 failed' }
const checkouts = requests(36, n => ({
  method: 'POST',
  route: '/checkout',
  time: (n * minute) / 3,
  duration: n < 18 ? 20 : 60,
  ...(n > 31 && failing),
}))
const missing = requests(16, () => ({ route: null, time: 0, duration: 2, status: 404, exception: 'NotFoundError: no' }))
const lately = overviewOf([...checkouts, ...missing], 0, 12 * minute)
const home = (overview: Overview) => renderSearchPage(result(), options, { overview, period: '1h', place: noPlace })

t.test('the home page starts with what matters lately, in words that lead to the requests', async t => {
  const page = textOf(home(lately))
  t.match(page, /What matters lately 52 requests · 4 failed · 16 refused · p95 60\.0 ms 15 min 1 h All/)
  t.match(page, 'POST /checkout fails: 4 of 36 . OrderError: order 7 failed')
  t.match(home(lately), 'href="/_profiler/search?route=%3D%2Fcheckout&amp;method=POST&amp;status=5xx">4 of 36<')
  t.match(home(lately), /period=1h" aria-current="true"/)
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

t.test('the home page says how many times slower than the median of its route a request was', async t => {
  const usual = Array.from({ length: 5 }, () => summary(profile({ duration: 10 })))
  const profiles = [summary(profile({ duration: 90 })), ...usual]
  const home = { overview: overviewOf(profiles, 0), period: 'all', place: noPlace } as const
  const page = renderSearchPage(result({ profiles }), options, home)
  t.same(page.match(/\d+ × slower than its median/g), ['9 × slower than its median'])
})
