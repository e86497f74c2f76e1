import t from 'tap'
import type { FastifyInstance } from 'fastify'
import applicationRoutes from '../../routes/index.ts'
import { addLicense, addUser, build, hearAll, heardOf, openTestDatabase, signIn } from '../support/site.ts'
import { stopClock } from '../support/clock.ts'
import { hearQueries } from '../support/sent-queries.ts'

const database = await openTestDatabase(t)
const day = 24 * 60 * 60 * 1000
const future = new Date('2999-12-31T22:30:15.250Z')
const past = new Date('2001-02-03T04:05:06.789Z')
const open = await addLicense(database, { domain: 'open.test' })
const asleep = await addLicense(database, { domain: 'asleep.test', valid_from: future })
await addLicense(database, { domain: 'suspended.test', suspended: true, languages: ['en', 'de', 'fr'] })
await addLicense(database, { domain: 'ended.test', valid_from: new Date(0), valid_until: past })
await addUser(database, { email: 'admin@museum.test', admin: true })
await addUser(database, { email: 'member@museum.test', licenses: [asleep] })
await hearAll(database)

const app = await build(t, { database, routes })
const browser = 'text/html,*/*;q=0.8'

async function routes(app: FastifyInstance) {
  await app.register(applicationRoutes)
  app.get('/optional', { config: { license: 'optional' } }, async () => 'inside')
  app.get('/public', { config: { access: 'public' } }, async () => 'inside')
  app.get<{ Querystring: { control: string } }>('/cached', async (request, reply) =>
    reply.header('cache-control', request.query.control).send('inside'),
  )
}

async function ask(host: string, url = '/', headers: Record<string, string> = {}) {
  return await app.inject({ url, headers: { host, ...headers } })
}

/** Sets columns of the open license, and waits until the app has heard of it. */
async function change(values: { valid_from?: Date | null; valid_until?: Date | null; suspended?: boolean }) {
  await heardOf(database, () => database.db.updateTable('licenses').set(values).where('id', '=', open).execute())
}

for (const [host, status, detail, heading] of [
  ['asleep.test', 503, 'This site opens on Tue, 31 Dec 2999 22:30:15 GMT.', 'This site is not open yet'],
  ['ended.test', 410, 'This site closed on Sat, 03 Feb 2001 04:05:06 GMT.', 'This site has closed'],
] as const) {
  const title = status === 410 ? 'Gone' : 'Service Unavailable'
  t.test(`${host} answers ${status} with the reason, as a page, a problem or a line`, async t => {
    const page = await ask(host, '/?a=b', { accept: browser })
    t.equal(page.statusCode, status)
    t.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    t.match(page.body, `<h1>${heading}</h1>`)
    t.match(page.body, '<a href="/login?next=%2F%3Fa%3Db">Sign in</a>')
    const problem = await ask(host)
    t.equal(problem.headers['content-type'], 'application/problem+json; charset=utf-8')
    t.strictSame(problem.json(), { type: 'about:blank', title, status, detail })
    t.equal((await ask(host, '/', { accept: 'text/plain' })).body, `${detail}\n`)
  })

  t.test(`no cache keeps the ${status} of ${host}`, async t => {
    const { headers } = await ask(host)
    t.equal(headers['cache-control'], 'no-store')
    const vary = String(headers.vary).split(', ')
    t.ok(['Accept', 'Cookie'].every(name => vary.includes(name)))
  })

  t.test(`${host} closes its API and its other routes, whatever the method`, async t => {
    for (const url of ['/api/museums', '/api/openapi.json', '/optional', '/cached?control=public']) {
      t.equal((await ask(host, url)).statusCode, status, url)
    }
    const posted = await app.inject({ method: 'POST', url: '/language', headers: { host }, payload: {} })
    t.equal(posted.statusCode, status)
    t.strictSame([(await app.inject({ method: 'HEAD', url: '/', headers: { host } })).body], [''])
  })

  t.test(`at ${host} everybody still reaches the form to sign in and other public routes`, async t => {
    const form = await ask(host, '/login', { accept: browser })
    t.equal(form.statusCode, 200)
    t.match(form.body, '<p class="notice">')
    t.match((await ask(host, '/password/reset', { accept: browser })).body, '<p class="notice">')
    t.equal(form.headers['cache-control'], 'no-store')
    t.equal((await ask(host, '/public')).body, 'inside')
    t.equal((await app.inject({ method: 'POST', url: '/logout', headers: { host } })).statusCode, 303)
  })

  t.test(`an unmatched path of ${host} is answered as anywhere`, async t => {
    t.equal((await ask(host, '/version')).json().detail, 'No route found for "GET /version"')
    const put = await app.inject({ method: 'PUT', url: '/', headers: { host } })
    t.equal(put.statusCode, 405)
    t.equal((await ask(host, '/login/')).statusCode, 301)
  })

  t.test(`an admin who is signed in sees ${host}, and no cache keeps what they see`, async t => {
    const cookie = await signIn(app, { host, email: 'admin@museum.test' })
    const page = await ask(host, '/', { cookie, accept: browser })
    t.equal(page.statusCode, 200)
    t.equal(page.headers['cache-control'], 'no-store')
    t.match(page.headers.vary, 'Cookie')
    t.match(page.body, /<header>\s*<p class="notice">/)
    t.match((await ask(host, '/password', { cookie, accept: browser })).body, /<header>\s*<p class="notice">/)
    t.equal((await ask(host, '/cached?control=public,max-age=60', { cookie })).headers['cache-control'], 'no-store')
    t.equal((await ask(host, '/api/licenses', { cookie })).statusCode, 200)
  })

  t.test(`a visitor of ${host} who is no admin is refused, even a member of its groups`, async t => {
    const cookie = await signIn(app, { host, email: 'member@museum.test' })
    t.equal((await ask(host, '/', { cookie })).statusCode, status)
  })
}

t.test('the front page of a closed site tells an admin why others do not see it', async t => {
  for (const [host, line] of [
    ['asleep.test', 'This site is not open yet. It opens on 31 December 2999 at 22:30:15 UTC. Only admins see it.'],
    ['suspended.test', 'This site is suspended. Only admins see it.'],
    ['ended.test', 'This site has closed. It closed on 3 February 2001 at 04:05:06 UTC. Only admins see it.'],
  ] as const) {
    const cookie = await signIn(app, { host, email: 'admin@museum.test' })
    const { body } = await ask(host, '/', { cookie, accept: browser, 'accept-language': 'en' })
    t.match(body, `<p class="notice">${line}</p>`)
  }
})

/** Between the heading and the link. */
const nothing = /<\/h1>\s*<p><a/

t.test('a visitor is told in their language that a site is closed, and until when', async t => {
  for (const [domain, validity, heading, detail] of [
    ['de-asleep.test', { valid_from: future }, 'noch nicht geöffnet', /Sie öffnet am 31\. Dezember 2999 .*UTC\./],
    ['de-suspended.test', { suspended: true }, 'gesperrt', nothing],
    ['de-ended.test', { valid_until: past }, 'geschlossen', /Sie wurde am 3\. Februar 2001 .*UTC geschlossen\./],
  ] as const) {
    await addLicense(database, { domain, name: 'The Depot', languages: ['en', 'de'], ...validity })
    const headers = { accept: browser, 'accept-language': 'de' }
    const page = await ask(domain, '/', headers)
    t.equal(page.headers['content-language'], 'de')
    t.match(page.headers.vary, 'Accept-Language')
    t.match(page.body, '<html lang="de">')
    t.match(page.body, `<title>Diese Website ist ${heading} &ndash; The Depot</title>`)
    t.match(page.body, `<h1>Diese Website ist ${heading}</h1>`)
    t.match(page.body, detail)
    const form = await ask(domain, '/login', headers)
    t.match(form.body, `<p class="notice">Diese Website ist ${heading}.`)
    const onlyAdmins = 'Nur Admins sehen sie.'
    for (const { body } of [page, form]) t.notMatch(body, onlyAdmins, 'visitors read nothing that is for admins')
    t.equal((await ask(domain, '/', { 'accept-language': 'de' })).headers['content-language'], 'en')
    const cookie = await signIn(app, { host: domain, email: 'admin@museum.test' })
    t.match((await ask(domain, '/', { ...headers, cookie })).body, onlyAdmins, 'admins are told')
  }
})

t.test('an open site has no such line, whoever sees it', async t => {
  const cookie = await signIn(app, { host: 'open.test', email: 'admin@museum.test' })
  t.notMatch((await ask('open.test', '/', { cookie, accept: browser })).body, '<p class="notice">')
  t.notMatch((await ask('open.test', '/login', { accept: browser })).body, '<p class="notice">')
})

t.test('Retry-After is the number of seconds until the site opens, and is left out if nobody knows', async t => {
  stopClock(t)
  const seconds = Number((await ask('asleep.test')).headers['retry-after'])
  t.equal(seconds, Math.ceil((future.getTime() - Date.now()) / 1000))
  t.notOk('retry-after' in (await ask('suspended.test')).headers)
  t.notOk('retry-after' in (await ask('ended.test')).headers)
})

t.test('the end of a license counts more than its suspension, and that more than its beginning', async t => {
  await addLicense(database, { domain: 'all.test', suspended: true, valid_from: new Date(0), valid_until: past })
  await addLicense(database, { domain: 'both.test', suspended: true, valid_from: future })
  t.equal((await ask('all.test')).statusCode, 410)
  t.equal((await ask('both.test')).json().detail, 'This site is suspended.')
})

t.test('of several licenses with the same domain, only the first counts, even while it is closed', async t => {
  await addLicense(database, { domain: 'twice.test', suspended: true })
  await addLicense(database, { domain: 'twice.test' })
  t.equal((await ask('twice.test')).statusCode, 503)
})

t.test('a change to the validity takes effect on the next request', async t => {
  const statuses = []
  for (const values of [
    { suspended: true },
    { suspended: false },
    { valid_from: future },
    { valid_from: past },
    { valid_until: new Date(past.getTime() + 1) },
    { valid_until: null, valid_from: null },
  ]) {
    await change(values)
    statuses.push((await ask('open.test')).statusCode)
  }
  t.strictSame(statuses, [503, 200, 503, 200, 410, 200])
})

for (const [column, before, after] of [
  ['valid_until', 200, 410],
  ['valid_from', 503, 200],
] as const) {
  t.test(`a cached license heeds its ${column} at that very moment, without a query`, async t => {
    const letPass = stopClock(t)
    await change({ [column]: new Date(Date.now() + 1000) })
    await ask('open.test', '/public')
    const sent: string[] = []
    const stop = hearQueries(query => sent.push(query))
    for (const [milliseconds, status] of [
      [999, before],
      [1, after],
    ] as const) {
      letPass(milliseconds)
      t.equal((await ask('open.test', '/cached?control=no-store')).statusCode, status)
    }
    stop()
    t.strictSame(
      sent.filter(query => query.includes('licenses')),
      [],
    )
    await change({ [column]: null })
  })
}

t.test('a page that a client has is not confirmed by a 304 after the site has closed', async t => {
  const page = await ask('open.test', '/', { accept: browser })
  await change({ valid_until: past })
  const again = await ask('open.test', '/', { accept: browser, 'if-none-match': String(page.headers.etag) })
  t.equal(again.statusCode, 410)
  t.notOk('etag' in again.headers)
  await change({ valid_until: null })
})

t.test('the lifetime in caches ends with the license', async t => {
  stopClock(t)
  await change({ valid_until: new Date(Date.now() + day) })
  const { headers } = await ask('open.test', '/cached?control=public,max-age=31536000')
  t.equal(headers['cache-control'], `public, max-age=${day / 1000}, must-revalidate`)
  t.equal((await ask('open.test')).headers['cache-control'], 'private, no-cache')
  await change({ valid_until: null })
})

t.test('a license without an end leaves Cache-Control as it is', async t => {
  const { headers } = await ask('open.test', '/cached?control=public,max-age=31536000')
  t.equal(headers['cache-control'], 'public,max-age=31536000')
})
