import t from 'tap'
import type { HttpCall, Profile } from '../../base/profile.ts'
import { databasePanel } from '../../show/panels/database.ts'
import { httpClientPanel } from '../../show/panels/http-client.ts'
import { parseProfile, separator, serialise } from '../../store/profile-text.ts'
import { exampleQuery, profile } from './example-profile.ts'

const hostile = '</code><script>alert(1)</script>`|'
const location = { file: '/app/art.ts', line: 7, column: 3 }

const call: HttpCall = {
  method: 'GET',
  url: 'http://prices.example/7',
  status: null,
  size: null,
  start: 1,
  head: null,
  duration: null,
  error: hostile,
  location,
  token: 'abcdefghijkl',
}

const query = exampleQuery({ start: 1, duration: null, rows: null })

const context = (of: Profile) => ({
  profile: of,
  configuration: null,
  base: '/_profiler',
  editorUrl: null,
  root: '/app',
})

t.test('an HTTP request without a response is shown with its error and caller, and counts as failed', t => {
  const data = { count: 3, failed: 1, duration: 2, calls: [call] }
  const shown = { ...profile(), http: data }
  const html = String(httpClientPanel.body(data, context(shown)))
  for (const part of ['unfinished', 'art.ts:7', 'abcdefghijkl', '1 failed', 'Showing the first 1 of 3 requests']) {
    t.match(html, part)
  }
  t.notMatch(html, '<script>')
  t.match(httpClientPanel.markdown?.(data, context(shown)), /not arrived in full.*failed: .*art\.ts:7/)
  t.match(httpClientPanel.badge?.(data), { text: '3', tone: 'error' })
  t.end()
})

t.test('an HTTP request has its status, size and times in HTML and Markdown', t => {
  const shown = profile()
  const data = httpClientPanel.read(shown)
  if (data === null) throw new Error('There is no request.')
  t.match(String(httpClientPanel.body(data, context(shown))), /200[^]*512[^]*head after 5\.10 ms/)
  t.match(httpClientPanel.markdown?.(data, context(shown)), '| 1 | 5.50 ms | 5.10 ms | 200 | 512 |')
  t.end()
})

t.test('a query without a caller was sent by a library', t => {
  const data = { ...profile().database, count: 1, failed: 0, rows: 0, duration: 0, waited: 0, transactions: 0 }
  const shown = { ...data, repetitions: [], queries: [query] }
  t.match(String(databasePanel.body(shown, context(profile()))), 'Sent by a library.')
  t.match(databasePanel.markdown?.(shown, context(profile())), 'Unfinished when the profile was made')
  t.end()
})

t.test('a profile with too many queries and HTTP requests loses half of them until it fits', t => {
  const large = profile()
  const sql = 'x'.repeat(3000)
  const repetition = { kind: 'loop', sql, count: 5, duration: 1, locations: [] } as const
  const database = { count: 90, failed: 0, rows: 0, duration: 1, waited: 0, transactions: 0 }
  large.database = {
    ...database,
    repetitions: Array.from({ length: 20 }, () => ({ ...repetition, locations: [] })),
    queries: Array.from({ length: 90 }, () => ({ ...query, sql })),
  }
  large.http = { count: 90, failed: 0, duration: 1, calls: Array.from({ length: 90 }, () => ({ ...call, url: sql })) }
  const text = serialise(large, 60_000).join(separator)
  t.ok(Buffer.byteLength(text) <= 60_000)
  const stored = parseProfile(text, large.token)
  t.match(stored, { database: { count: 90 }, http: { count: 90 } })
  t.ok(stored?.dropped.some(({ what }) => what === 'queries'))
  t.ok(stored?.dropped.some(({ what }) => what === 'HTTP requests'))
  t.end()
})
