import t from 'tap'
import { httpClientPanel } from '../../features/http-client/http-client-panel.ts'
import { parseProfile, separator, serialise } from '../../core/store/profile-text.ts'
import { context, exampleCall, exampleQuery, exampleUse, profile } from './example-profile.ts'

const hostile = '</code><script>alert(1)</script>`|'
const location = { file: '/app/art.ts', line: 7, column: 3 }

const call = exampleCall({
  status: null,
  size: null,
  head: null,
  duration: null,
  error: hostile,
  location,
  token: 'abcdefghijkl',
})

const query = exampleQuery({ start: 1, duration: null, rows: null })

t.test('an HTTP request without a response is shown with its error and caller, and counts as failed', async t => {
  const data = { count: 3, failed: 1, duration: 2, calls: [call] }
  const [, bound, findings] = httpClientPanel.view(data, context(profile()))
  t.match(bound, { notice: /^Listed are the first 1 of 3 requests/ })
  t.match(findings, { findings: [{ tone: 'error', detail: `failed: ${hostile}`, places: [location] }] })
  t.match(httpClientPanel.badge?.(data), { text: '1 failed', tone: 'error' })
})

t.test('a profile with too many queries and HTTP requests loses half of them until it fits', async t => {
  const large = profile()
  const sql = 'x'.repeat(3000)
  const repetition = { kind: 'loop', sql, count: 5, duration: 1, locations: [] } as const
  large.database = exampleUse(
    Array.from({ length: 90 }, () => ({ ...query, sql })),
    { repetitions: Array.from({ length: 20 }, () => ({ ...repetition, locations: [] })) },
  )
  large.http = { count: 90, failed: 0, duration: 1, calls: Array.from({ length: 90 }, () => ({ ...call, url: sql })) }
  const text = serialise(large, 60_000).join(separator)
  t.ok(Buffer.byteLength(text) <= 60_000)
  const stored = parseProfile(text, large.token)
  t.match(stored, { database: { count: 90 }, http: { count: 90 } })
  t.ok(stored?.dropped.some(({ what }) => what === 'queries'))
  t.ok(stored?.dropped.some(({ what }) => what === 'HTTP requests'))
})
