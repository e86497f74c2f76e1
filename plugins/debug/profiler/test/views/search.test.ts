import t from 'tap'
import type { SearchCriteria, SearchResult } from '../../base/profile.ts'
import { missingText, renderNotFoundMarkdown, renderNotFoundPage } from '../../show/pages/not-found-page.ts'
import { renderSearchBar } from '../../show/parts/search-bar.ts'
import { renderSearchMarkdown } from '../../show/markdown/search-markdown.ts'
import { renderSearchPage } from '../../show/pages/search-page.ts'
import { inputTime, searchQuery } from '../../show/parts/search-query.ts'
import { panels } from './example-panels.ts'
import { failedProfile, profile, summary } from './example-profile.ts'

const options = { base: '/_profiler', labels: ['license'] }
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
  for (const part of [
    'name="panel" value="exception"',
    'name="url" value="/a?b"',
    '<option selected>POST',
    'name="status" value="&gt;=400"',
    'name="route" value="/:id"',
    'name="host" value="louvre.example"',
    'name="ip" value="::1"',
    'name="exception" value="MuseumError"',
    'name="license" value="Louvre"',
    'name="token" value="abc"',
  ]) {
    t.ok(form.includes(part), part)
  }
  t.match(form, /name="durationFrom"[^>]*value="5"/)
  t.match(form, /name="timeFrom"[^>]*value="2026-11-21T01:11:07"/)
})

t.test('an unusual method can be searched for again, and an invalid one is left out', async t => {
  t.match(String(renderSearchBar({ method: 'PROPFIND' }, options)), '<option selected>PROPFIND')
  t.notMatch(String(renderSearchBar({ method: 'NONSENSE' }, { base: '' })), 'NONSENSE')
})

t.test('the form is folded if there are results beside it', async t => {
  t.match(renderSearchPage(result(), options), '<details class="search-fold">')
  t.match(renderSearchPage(result({ profiles: [], total: 0 }), options), '<details class="search-fold" open>')
  t.match(renderNotFoundPage({ what: 'profile', token: 'abc' }, summaries, options), '<details class="search-fold">')
})

t.test('every field of the form has a label', async t => {
  const form = String(renderSearchBar({}, options))
  for (const [tag] of form.matchAll(/<(?:input|select)[^>]*>/g)) {
    const id = / id="([^"]+)"/.exec(tag)?.[1]
    t.ok(tag.includes('aria-label') || form.includes(`<label for="${id}"`), tag)
  }
})

t.test('a search can be written as a query string', async t => {
  t.equal(
    searchQuery(everything, 2),
    'token=abc&method=POST&status=%3E%3D400&url=%2Fa%3Fb&route=%2F%3Aid&host=louvre.example&ip=%3A%3A1&exception=MuseumError&parent=cba&durationFrom=5&durationTo=10&perPage=50&timeFrom=2026-11-21T01%3A11%3A07.000Z&timeTo=2026-11-22T00%3A00%3A00.000Z&license=Louvre&page=2',
  )
})

t.test('an invalid time is left out', async t => {
  t.equal(inputTime(NaN), '')
})

t.test('without criteria the page lists the latest requests', async t => {
  t.match(
    renderSearchPage(result({ criteria: { page: 1, perPage: 20 } }), options),
    /<h1>Latest requests <span class="count">3/,
  )
})

t.test('a row has status, request, time, exception, route and labels, and links to the profile', async t => {
  const page = renderSearchPage(result(), options)
  t.match(
    page,
    /badge good">200<.*href="\/_profiler\/k3Jx9PzQ4wTn">.*route \/museums\/:id.*24\.6 ms.*data-name="License">Louvre/s,
  )
  t.match(page, /thrown error">MuseumError.*1 logged error/s)
  t.match(page, /badge warning">–<.*Client went away/s)
})

t.test('a search shows the number of results, and opens them in the requested panel', async t => {
  const page = renderSearchPage(result({ criteria: { status: '500' } }), { ...options, panel: 'exception' })
  t.match(page, /<h1>3 requests found/)
  t.match(page, 'href="/_profiler/k3Jx9PzQ4wTn?panel=exception"')
})

t.test('an empty result and an empty store say so', async t => {
  t.match(
    renderSearchPage(result({ profiles: [], total: 0, criteria: { url: 'x' } }), options),
    'No stored request matches.',
  )
  t.match(renderSearchPage(result({ profiles: [], total: 0 }), options), 'No requests stored yet.')
})

t.test('invalid criteria are reported as left out', async t => {
  const problems = ['No status is "<b>".']
  t.match(renderSearchPage(result({ problems }), options), 'No status is &quot;&lt;b&gt;&quot;.')
  t.match(renderSearchMarkdown(result({ problems }), '/_profiler'), 'No status is')
})

t.test('page links lead to newer and older profiles and keep the search', async t => {
  const middle = renderSearchPage(result({ criteria: { url: 'a', page: 2 }, page: 2, pages: 3 }), {
    ...options,
    panel: 'logs',
  })
  t.match(middle, 'rel="prev" href="/_profiler/search?url=a&amp;panel=logs"')
  t.match(middle, 'rel="next" href="/_profiler/search?url=a&amp;page=3&amp;panel=logs"')
  t.notMatch(renderSearchPage(result({ page: 1, pages: 2 }), options), 'rel="prev"')
  const last = renderSearchPage(result({ page: 2, pages: 2 }), options)
  t.match(last, 'rel="prev" href="/_profiler/search"')
  t.notMatch(last, 'rel="next"')
})

t.test('the Markdown of a search is a table, with the page number if there are several', async t => {
  t.match(
    renderSearchMarkdown(result({ pages: 2 }), '/_profiler'),
    /^# Requests: 3.*\| 200 \| `GET \/museums\/7.*\| none \|.*Page 1 of 2\./s,
  )
  t.match(renderSearchMarkdown(result({ profiles: [] }), '/_profiler'), 'None.')
})

t.test('an unknown token is reported, with the latest requests', async t => {
  const page = renderNotFoundPage({ what: 'profile', token: '<b>' }, summaries, options)
  t.match(page, 'There is no profile &quot;&lt;b&gt;&quot;. It may have expired')
  t.match(page, 'href="/_profiler/k3Jx9PzQ4wTn"')
})

t.test('an unknown panel is reported, with the existing panels', async t => {
  const missing = { what: 'panel', token: 'abc', panel: 'nope', panels } as const
  t.match(
    renderNotFoundPage(missing, [], options),
    /There is no panel &quot;nope&quot;.*\?panel=request.*\?panel=license.*No requests stored/s,
  )
  t.match(renderNotFoundMarkdown(missing, [], '/_profiler'), 'Available panels: `request`, `performance`')
})

t.test('a request without an exception is reported, with a link to it', async t => {
  t.match(
    renderNotFoundPage({ what: 'exception', token: 'abc' }, [], options),
    /Request abc had no exception.*href="\/_profiler\/abc"/s,
  )
})

t.test('a request still running and a missing page are reported as such', async t => {
  t.match(renderNotFoundPage({ what: 'running', token: 'abc' }, [], options), 'Request abc is still running')
  t.match(renderNotFoundMarkdown({ what: 'page', path: 'a/b' }, [], '/_profiler'), 'The profiler has no page "a/b".')
})

t.test('the Markdown of a missing page has the latest requests', async t => {
  t.match(
    renderNotFoundMarkdown({ what: 'profile', token: 'abc' }, summaries, '/_profiler'),
    /There is no profile.*## Latest requests/s,
  )
  t.equal(missingText({ what: 'exception', token: 'abc' }), 'Request abc had no exception.')
})
