import t from 'tap'
import type { Profile } from '../../base/profile.ts'
import { renderErrorMarkdown } from '../../show/markdown/error-markdown.ts'
import { renderErrorPage } from '../../show/pages/diagnostic-error-page.ts'
import { renderNotFoundPage } from '../../show/pages/not-found-page.ts'
import { renderProfileMarkdown } from '../../show/markdown/profile-markdown.ts'
import { renderProfilePage } from '../../show/pages/profile-page.ts'
import { renderSearchPage } from '../../show/pages/search-page.ts'
import { renderToolbar } from '../../show/pages/toolbar.ts'
import { panels } from './example-panels.ts'
import { context, failedProfile, notFoundProfile, summary } from './example-profile.ts'
import { hostileProfile, hostileStrings } from './hostile-profile.ts'

/** Every page that can show a profile. */
function pages(profile: Profile): string[] {
  const of = context(profile)
  const list = {
    criteria: { url: profile.url, labels: profile.labels },
    problems: [profile.url],
    profiles: [summary(profile)],
    total: 1,
    page: 2,
    pages: 3,
  }
  return [
    renderErrorPage(of),
    ...panels.map(({ name }) => renderProfilePage(of, panels, name)),
    renderSearchPage(list, { base: '/_profiler', labels: Object.keys(profile.labels), panel: profile.url }),
    renderNotFoundPage({ what: 'panel', token: profile.token, panel: profile.url, panels }, list.profiles, {
      base: '/_profiler',
    }),
    String(renderToolbar(of, panels)),
  ]
}

/** The shape of every tag on a page: its name and the names of its attributes. */
function shapes(page: string): Set<string> {
  const tags = page.replace(/<style>.*?<\/style>/s, '').match(/<[^>]*>/g) ?? []
  return new Set(tags.map(tag => tag.replace(/"[^"]*"/g, '""')))
}

const known = new Set(
  [
    failedProfile(),
    notFoundProfile(),
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
    const made = [failedProfile(), notFoundProfile()].flatMap(good => pages(hostileProfile(good, hostile)))
    t.same(
      [...new Set(made.flatMap(page => [...shapes(page)]))].filter(shape => !known.has(shape)),
      [],
    )
    t.notOk(made.some(page => page.includes('\0')))
    const urls = new Set(
      made.flatMap(page => [...page.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map(([, url = '']) => url)),
    )
    t.same(
      [...urls].filter(url => !/^(\/_profiler|#|vscode:|data:,)/.test(url)),
      [],
    )
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
