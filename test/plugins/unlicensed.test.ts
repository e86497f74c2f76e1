import t from 'tap'
import { build } from '../support/build.ts'
import { addLicense } from '../support/records.ts'
import { openTestDatabase } from '../support/test-database.ts'

const database = await openTestDatabase(t)
await addLicense(database, { domain: 'museum.test' })
const app = await build(t, { database })

/** The page of a host without a license. */
async function ask(
  how: { url?: string; host?: string; remoteAddress?: string; headers?: Record<string, string> } = {},
) {
  const { url = '/', host = 'nobody.test', remoteAddress = '127.0.0.1', headers = {} } = how
  const response = await app.inject({ url, remoteAddress, headers: { host, accept: 'text/html', ...headers } })
  t.equal(response.statusCode, 404)
  return response.body
}

for (const remoteAddress of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1']) {
  t.test(`the 404 of a host without a license tells ${remoteAddress} the commands that add one`, async t => {
    const page = await ask({ remoteAddress })
    t.match(page, 'license-type add --type standard</code>')
    t.match(page, 'license add --domain &#34;nobody.test&#34; --name &#34;My Museum&#34; --type standard</code>')
    t.match(page, 'npm run portico -- seed</code>')
  })
}

for (const [whom, how] of [
  ['another machine', { remoteAddress: '192.0.2.1' }],
  ['an IPv6 address that ends in 1', { remoteAddress: '2001:db8::1' }],
  ['a client of a proxy on this machine', { headers: { 'x-forwarded-for': '192.0.2.1' } }],
  ['a client of a proxy with Forwarded', { headers: { forwarded: 'for=192.0.2.1' } }],
  ['a client of a proxy with Via', { headers: { via: '1.1 proxy' } }],
] as const) {
  t.test(`no command is told to ${whom}`, async t => {
    t.notMatch(await ask(how), 'npm run')
  })
}

for (const url of ['/', '/version']) {
  t.test(`the 404 of ${url} at a host without a license has no link that leads to another`, async t => {
    t.notMatch(await ask({ url }), '<a ')
  })
}

t.test('the 404 of a licensed host leads to the front page, and tells no command', async t => {
  const page = await ask({ url: '/version', host: 'museum.test' })
  t.match(page, '<a href="/">Go to the front page</a>')
  t.notMatch(page, 'npm run')
})

t.test('programs get the same problem as ever', async t => {
  const response = await app.inject({ url: '/', headers: { host: 'nobody.test' } })
  t.strictSame(response.json(), {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'No license found for "nobody.test".',
  })
})
