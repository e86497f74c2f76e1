import t from 'tap'
import { limitLifetime } from '../../../src/http/lifetime.ts'

for (const [cacheControl, limited] of [
  ['max-age=3600', 'max-age=60, must-revalidate'],
  ['max-age=30', 'max-age=30, must-revalidate'],
  ['public, Max-Age="3600", S-MaxAge=7200', 'public, max-age=60, s-maxage=60, must-revalidate'],
  ['public, s-maxage=7200', 'public, s-maxage=60, max-age=0, must-revalidate'],
  ['public', 'public, max-age=0, must-revalidate'],
  ['', 'max-age=0, must-revalidate'],
  [',, ,', 'max-age=0, must-revalidate'],
  ['max-age=9999999999999999999999', 'max-age=60, must-revalidate'],
  [
    'max-age=3600, stale-while-revalidate=9, stale-if-error=9, immutable, must-revalidate',
    'max-age=60, must-revalidate',
  ],
  ['max-age=3600, max-age=7200', 'max-age=60, max-age=60, must-revalidate'],
] as const) {
  t.test(`"${cacheControl}" is limited to 60 s as "${limited}"`, async t => {
    t.equal(limitLifetime(cacheControl, 60), limited)
  })
}

for (const cacheControl of ['no-store', 'private, no-cache', 'No-Cache, max-age=3600', 'max-age=0, NO-STORE']) {
  t.test(`"${cacheControl}" needs no limit`, async t => {
    t.equal(limitLifetime(cacheControl, 60), cacheControl)
  })
}

t.test('a "no-cache" for some headers does not replace a limit', async t => {
  const limited = limitLifetime('no-cache="set-cookie", max-age=3600', 60)
  t.equal(limited, 'no-cache="set-cookie", max-age=60, must-revalidate')
})
