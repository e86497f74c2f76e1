import t from 'tap'
import { addLicense, build, openTestDatabase } from '../support/site.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test', name: 'House' })
const app = await build(t, { database })

t.test('a page is neither framed, sniffed nor shared with other origins, and runs no foreign code', async t => {
  for (const url of ['/', '/login']) {
    const { headers } = await app.inject({ url, headers: { host: 'museum.test', accept: 'text/html' } })
    t.match(
      headers,
      {
        'content-security-policy':
          /^default-src 'self';.*;object-src 'none';base-uri 'none';.*;frame-ancestors 'none'$/,
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'origin-agent-cluster': '?1',
        'referrer-policy': /^(same-origin|no-referrer)$/,
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      },
      url,
    )
  }
})
