import { createHash } from 'node:crypto'
import t from 'tap'
import type { Profile } from '../../core/profile.ts'
import { errorPagePolicy, profilerPolicy } from '../../core/view/page.ts'
import { renderErrorMarkdown } from '../../features/exceptions/failure-sections.ts'
import { renderErrorPage } from '../../features/exceptions/error-page.ts'
import { context, exception, failedProfile, notFoundProfile, ownFrame, profile } from './example-profile.ts'

const page = (of: Profile) => renderErrorPage(context(of))

function header(of: Profile): string {
  const [head = ''] = page(of).split('<main')
  return head.replace(/<style>.*<\/style>|<[^>]+>/gs, ' ').replace(/\s+/g, ' ')
}

t.test('the header shows the status, the request, the message and what led to it', async t => {
  t.match(
    header(failedProfile()),
    /500 GET \/museums\/7 .*MuseumError: Museum 7 could not be shown Time 48\.2 ms Root cause connect ECONNREFUSED 10\.0\.0\.4:5432 Your line src\/database\/ connect\.ts:33 License Louvre When /,
  )
})

t.test('what Fastify refuses has no line that is at fault, and advice stands open', async t => {
  const frames = [ownFrame()]
  const refused = { code: 'FST_ERR_BAD_URL', statusCode: 400, frames }
  t.notMatch(header(failedProfile({ exceptions: [exception(refused)] })), 'Your line')
  const advised = exception({ frames, properties: { hint: 'Add a license.', help: '' } })
  t.match(page(failedProfile({ exceptions: [advised] })), '<p class="notice warning">Add a license.</p>')
})

t.test('the header of a routing failure names the page that linked here', async t => {
  const missing = notFoundProfile()
  const request = { ...missing.request, headers: [['Referer', 'http://example.org/from'] as [string, string]] }
  t.match(
    header({ ...missing, request }),
    /404 GET \/version .*NotFoundHttpError: No route found for .* Time 3\.40 ms Linked from http:\/\/example\.org\/from License/,
  )
})

t.test('only a path without a route, or with other methods, starts with the nearest routes', async t => {
  t.match(page(notFoundProfile()), /Nearest routes.*id="exceptions"/s)
  t.match(page(notFoundProfile({ status: 405 })), 'Nearest routes')
  t.notMatch(page(failedProfile()), 'Nearest routes')
})

t.test('the page lists what the profile left out', async t => {
  const dropped = [{ what: 'logs', count: 1, why: 'Full.' }]
  t.match(page(failedProfile({ dropped })), 'logs: 1 left out. Full.')
})

t.test('everything is readable without JavaScript, including the Markdown', async t => {
  const shown = page(failedProfile())
  t.match(shown, /<details class="fold trace"><summary>This page as Markdown.*id="markdown"># 500/s)
  t.match(shown, 'data-copy="markdown" hidden')
})

t.test('an error without a message, or without an exception, is titled by what is known', async t => {
  for (const [of, title] of [
    [failedProfile({ exceptions: [exception({ message: '' })] }), '<h1>MuseumError</h1>'],
    [
      failedProfile({ exceptions: [exception(), exception({ message: '', relation: 'cause', parent: 0 })] }),
      /Root cause.*MuseumError/s,
    ],
    [profile({ status: 503, logs: [] }), '<h1>Error response without an exception</h1>'],
    [notFoundProfile({ exceptions: [] }), /<h1>No route matches GET \/version<\/h1>.*No exception was thrown/s],
  ] as const) {
    t.match(page(of), title)
  }
})

t.test('the policy allows the stylesheet by the hash of its text, and nothing inline', async t => {
  const style = /<style>(.*)<\/style>/s.exec(page(failedProfile()))?.[1] ?? ''
  t.match(errorPagePolicy(), createHash('sha256').update(style).digest('base64'))
  t.notMatch(errorPagePolicy() + profilerPolicy, 'unsafe-inline')
  for (const [, url] of page(failedProfile()).matchAll(/<(?:link|script|img)[^>]+(?:src|href)="([^"]+)"/g)) {
    t.match(url, /^(\/_profiler\/|data:,)/, 'nothing is loaded from another origin')
  }
})

t.test('the Markdown has the request, the nearest routes, the exceptions and the logs', async t => {
  const shown = renderErrorMarkdown(context(notFoundProfile()))
  t.match(shown, /^# 404 Not Found: No route found.*## Nearest routes.*## Exceptions \(2\).*## Logs \(2\)/s)
})

t.test('the Markdown has at most 2,000 tokens, whatever failed, and says where the rest is', async t => {
  const message = 'The museum could not be shown. '.repeat(130)
  const chain = Array.from({ length: 20 }, (_, index) =>
    exception({
      message,
      relation: index === 0 ? 'thrown' : 'cause',
      parent: index === 0 ? null : index - 1,
      frames: Array.from({ length: 50 }, () => ownFrame()),
      properties: { query: 'x'.repeat(4000) },
    }),
  )
  const logs = Array.from({ length: 1000 }, (_, index) => ({
    level: index === 999 ? 50 : 20,
    start: index,
    message: index === 999 ? 'the pool is exhausted' : message,
    fields: { rows: ['`'.repeat(90)] },
  }))
  const markdown = renderErrorMarkdown(
    context(failedProfile({ exceptions: chain, logs, url: `/${'🖼'.repeat(2000)}`, path: '/' })),
  )
  t.ok(Buffer.byteLength(markdown) <= 8000, `${Buffer.byteLength(markdown)} bytes`)
  t.match(markdown, /## Exceptions \(20\).*more lines: `\/_profiler\/k3Jx9PzQ4wTn\?panel=exception`/s)
  t.match(markdown, /## Logs \(1000\)\n\n\| Level .*\n.*\n\| error \| .* \| the pool is exhausted /)
  t.match(markdown, /## Stack Traces \(20\)/)
  t.equal([...markdown.matchAll(/^```/gm)].length % 2, 0, 'every code block is closed')
})
