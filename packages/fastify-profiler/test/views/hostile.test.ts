import t from 'tap'
import { noPlace } from '../../core/view/elements.ts'
import { compare } from '../../features/compare/compare.ts'
import { compareSets, renderSetComparisonPage } from '../../features/compare/compare-sets.ts'
import type { Profile } from '../../core/profile.ts'
import { renderComparisonPage, renderComparisonMarkdown } from '../../features/compare/comparison-page.ts'
import { renderErrorMarkdown } from '../../features/exceptions/failure-sections.ts'
import { renderErrorPage } from '../../features/exceptions/error-page.ts'
import { renderNotFoundPage } from '../../features/home/not-found-page.ts'
import { renderProfileMarkdown, renderProfilePage } from '../../features/home/profile-page.ts'
import { renderNotReplayedPage } from '../../features/replay/replay-routes.ts'
import { renderProfileFile } from '../../features/export/export-routes.ts'
import { NotRepeatable } from '../../features/replay/repeatable-request.ts'
import { renderSearchPage } from '../../features/home/search-page.ts'
import { renderToolbar } from '../../features/toolbar/toolbar.ts'
import { overviewOf } from '../../features/home/overview.ts'
import { actions, panels } from './example-panels.ts'
import {
  context,
  cpuProfile,
  exception,
  exampleQuery,
  exampleUse,
  failedProfile,
  notFoundProfile,
  profile,
  samples,
  summary,
} from './example-profile.ts'
import { hostileProfile, hostileStrings } from './hostile-profile.ts'

/** Every page that can show a profile. */
function pages(profile: Profile): string[] {
  const of = context(profile, { readSamples: () => JSON.stringify(rawSamples(profile.url)) })
  const list = {
    criteria: { url: profile.url, labels: profile.labels },
    problems: [profile.url],
    profiles: [summary(profile)],
    total: 1,
    page: 2,
    pages: 3,
  }
  const hostileSummary = {
    ...summary(profile),
    time: 1,
    repeated: 9,
    statements: [{ sql: profile.url, count: 1, duration: 1, slowest: 1 }],
  }
  list.profiles.push(hostileSummary)
  return [
    renderErrorPage(of),
    ...panels.map(({ name }) => renderProfilePage(of, panels, name, undefined, actions)),
    renderProfileFile(of, panels),
    renderNotReplayedPage(new NotRepeatable(profile.url), profile, '/_profiler', ''),
    renderSearchPage(list, { base: '/_profiler', root: '', labels: Object.keys(profile.labels), panel: profile.url }),
    renderSearchPage(
      list,
      { base: '/_profiler', root: '' },
      { overview: overviewOf([hostileSummary], 0, Infinity), period: 'all', place: noPlace },
    ),
    renderNotFoundPage({ what: 'part', token: profile.token, why: profile.url, panels }, list.profiles, {
      base: '/_profiler',
      root: '',
    }),
    String(renderToolbar(of, panels, true)),
    ...comparisonPages(profile),
  ]
}

/** Samples whose functions and files all have this name. */
function rawSamples(name: string) {
  return JSON.parse(
    JSON.stringify(cpuProfile(), (key, value: unknown) => (key === 'functionName' || key === 'url' ? name : value)),
  )
}

/** Comparisons with requests that have something else, more or less. */
function comparisonPages(of: Profile): string[] {
  const others = [profile(), notFoundProfile(), { ...of, database: null, spans: of.spans.slice(0, 2), logs: [] }]
  const pairs = others.flatMap(other => [compare(of, other), compare(other, of)])
  const route = { method: of.method, route: of.url, at: 5 }
  const sets = compareSets(route, [
    { ...summary(of), time: 1 },
    { ...summary(of), time: 9 },
  ])
  return [
    ...pairs.map(pair => renderComparisonPage(pair, context(of))),
    renderSetComparisonPage(sets, '/_profiler', ''),
  ]
}

const location = { file: '/srv/museum/routes/cart.ts', line: 41, column: 5 }
const query = exampleQuery({
  sql: 'select $1',
  parameters: ['text'],
  start: 1,
  waited: 1,
  error: 'no such table',
  location,
  transaction: 1,
})

/** Queries with everything that a page can show of them. */
const database = exampleUse([query, query, { ...query, location: null, duration: null, transaction: null }], {
  failed: 1,
  duration: 3,
  waited: 1,
  transactions: 1,
  repetitions: [{ kind: 'loop', sql: 'select $1', count: 9, duration: 3, locations: [location] }],
})

const refused = { kind: 'cpu' as const, why: 'It was refused.' }

/** The shape of every tag on a page: its name and the names of its attributes. */
function shapes(page: string): Set<string> {
  const tags = page.replace(/<style>.*?<\/style>/s, '').match(/<[^>]*>/g) ?? []
  return new Set(tags.map(tag => tag.replace(/"[^"]*"/g, '""')))
}

const known = new Set(
  [
    failedProfile({ database, samples: samples() }),
    notFoundProfile({ database, samples: refused }),
    failedProfile({
      exceptions: [exception({ message: 'no "nmae"' })],
      database: exampleUse([{ ...query, sql: 'select nmae', error: 'no "nmae"' }]),
    }),
    failedProfile({
      status: 301,
      outcome: 'aborted',
      parent: 'p',
      request: { ...failedProfile().request, body: { a: 1 } },
    }),
  ]
    .flatMap(pages)
    .flatMap(page => [...shapes(page)]),
)

for (const [index, hostile] of hostileStrings.entries()) {
  t.test(`hostile string ${index + 1} creates no tag and no attribute on any page`, async t => {
    const good = [failedProfile({ database, samples: samples() }), notFoundProfile({ database, samples: refused })]
    const made = good.flatMap(one => pages(hostileProfile(one, hostile)))
    const strange = [...new Set(made.flatMap(page => [...shapes(page)]))].filter(shape => !known.has(shape))
    t.same(strange, [])
    t.notOk(made.some(page => page.includes('\0')))
    const urls = new Set(
      made.flatMap(page => [...page.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map(([, url = '']) => url)),
    )
    const foreign = [...urls].filter(url => !/^(\/_profiler|#|vscode:|data:,)/.test(url))
    t.same(foreign, [])
  })
}

t.test('hostile strings do not break the headings of the Markdown', async t => {
  for (const [index, hostile] of hostileStrings.entries()) {
    const markdown = renderErrorMarkdown(context(hostileProfile(failedProfile(), hostile))).replace(
      /^(`{3,})[^`\n]*\n.*?^\1$/gms,
      '',
    )
    t.equal(markdown.match(/^## /gm)?.length, 3, `string ${index + 1}`)
    t.type(renderProfileMarkdown(context(hostileProfile(failedProfile(), hostile)), panels), 'string')
  }
})

t.test('hostile strings do not break the headings of a comparison in Markdown', async t => {
  for (const [index, hostile] of hostileStrings.entries()) {
    const comparison = compare(profile(), hostileProfile(failedProfile({ database }), hostile))
    t.equal(renderComparisonMarkdown(comparison, context(profile())).match(/^#/gm)?.length, 7, `string ${index + 1}`)
  }
})
