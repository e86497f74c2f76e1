import t, { type Test } from 'tap'
import { beginQuery } from '../features/queries/queries.ts'
import { makeFolder } from './folder.ts'
import { pageOf, profiledApp, profileOf } from './profiled-app.ts'
import { storeProfiles } from './stores.ts'
import { exampleUse, profile } from './views/example-profile.ts'

/** An application whose route sends as many queries as it is asked for. */
async function shop(t: Test, directory = makeFolder()) {
  const app = await profiledApp(t, { directory })
  app.get<{ Querystring: { queries?: string; warn?: string } }>('/cart', async request => {
    const { queries, warn } = request.query
    for (let n = 0; n < Number(queries ?? 0); n++) {
      const asked = { system: 'postgresql', statement: 'select * from products where id = $1', parameters: [n] }
      beginQuery(asked, beginQuery)?.end(1)
    }
    if (warn !== undefined) request.log.warn(warn)
    return 'cart'
  })
  const tokenOf = async (url: string) => (await profileOf(app, url)).token
  const show = (path: string, accept?: string) => pageOf(app, `compare${path}`, accept)
  const data = async (path: string) => JSON.parse(await show(path, 'application/json'))
  return { app, tokenOf, show, data }
}

t.test('a comparison is a page, JSON and Markdown', async t => {
  const { tokenOf, show, data } = await shop(t)
  const [a, b] = [await tokenOf('/cart?queries=20'), await tokenOf('/cart?queries=1&warn=sold+out')]
  const page = await show(`/${a}/${b}`)
  t.match(page, '20 × select products became 1.')
  t.match(page, 'A and B have different URLs: /cart?queries=20 and /cart?queries=1&amp;warn=sold+out.')
  t.match(page, '1 new warning in the log:</b> sold out')
  t.match(page, `href="/_profiler/compare/${b}/${a}">Swap A and B`)
  t.match(page, 'href="/_profiler/compare?method=GET&amp;route=%2Fcart&amp;at=')
  t.match(await data(`/${a}/${b}`), {
    a: { token: a },
    b: { token: b },
    statements: [{ shape: 'select * from products where id = ?', a: { count: 20 }, b: { count: 1 } }],
    sentence: String,
  })
  t.match(await show(`/${a}/${b}`, 'text/markdown'), /^# .*\n\n- A: 200 OK, `GET \/cart\?queries=20`/)
})

t.test('a comparison tells what a profile leaves out', async t => {
  const app = await profiledApp(t, { profileBounds: { spans: 1 } })
  app.addHook('onRequest', async function first() {})
  app.get('/cart', async () => 'cart')
  const page = await pageOf(app, `compare/${(await profileOf(app, '/cart')).token}/latest`)
  for (const name of ['A', 'B']) {
    t.match(page, `<p class="notice">The profile of ${name} is incomplete. Left out: spans (1).</p>`)
  }
})

t.test('what cannot be compared is a 404 that says why', async t => {
  const { app, tokenOf, show } = await shop(t)
  const token = await tokenOf('/cart')
  for (const path of ['', `?request=${token}`, `?${`request=${token}&`.repeat(3)}`, '?route=/cart', '?at=9']) {
    const answer = await app.inject({ url: `/_profiler/compare${path}`, headers: { accept: 'text/html' } })
    t.equal(answer.statusCode, 404, path)
    t.match(answer.body, 'A comparison needs two requests.')
  }
  t.match(await show('', 'text/markdown'), 'A comparison needs two requests')
})

t.test('two ticked requests of the list are compared, the older one first', async t => {
  const { app, tokenOf } = await shop(t)
  const [older, newer] = [await tokenOf('/cart'), await tokenOf('/cart')]
  const list = await pageOf(app, '')
  t.match(list, new RegExp(`name="request" value="${newer}".*name="request" value="${older}"`, 's'))
  t.match(list, /<form [^>]*id="pair" action="\/_profiler\/compare"/)
  t.match(await app.inject(`/_profiler/compare?request=${newer}&request=${older}`), {
    statusCode: 302,
    headers: { location: `/_profiler/compare/${older}/${newer}` },
  })
})

t.test('a request is compared with the previous one of its route', async t => {
  const { app, tokenOf, data } = await shop(t)
  const first = await tokenOf('/cart')
  const missing = await tokenOf('/nowhere')
  const second = await tokenOf('/cart?queries=1')
  t.match(await pageOf(app, second), `href="/_profiler/compare/${first}/${second}">Compare with the previous`)
  const other = await tokenOf('/nothing')
  for (const token of [first, missing, other]) t.notMatch(await pageOf(app, token), 'Compare with the previous')
  t.equal((await data(`/${other}/${missing}`)).a.route, null, 'requests of no route are compared, in either order')
})

t.test('a route is compared before a moment and since', async t => {
  const { app, tokenOf, show, data } = await shop(t)
  for (let n = 0; n < 9; n++) await tokenOf('/cart?queries=2')
  const { profiles } = await app.profiler.search({})
  const at = Number(profiles[0]?.time)
  const query = `?method=GET&route=/cart&at=${at}`
  const page = await show(query)
  t.match(page, '<code>GET /cart</code> before')
  t.match(page, 'For certainty it takes 5 requests on each side.')
  t.match(await data(query), { route: '/cart', at, verdict: { sureness: 'seen' }, since: { queries: { median: 2 } } })
  t.match(await show(query, 'text/markdown'), /\| Queries \| \d \| 2 \|/)
  const found = await show('?route=/nothing&at=2026-01-01T00:00:00', 'text/markdown')
  t.match(found, '# Nothing to compare: 0 requests before, 0 since')
})

t.test('of many requests since a moment, the first two hundred are compared', async t => {
  const directory = makeFolder()
  const start = Date.now() - 100_000
  const profiles = Array.from({ length: 240 }, (_, n) =>
    profile({ token: `t${n}`, time: start + n, database: exampleUse([], { count: n === 0 ? 7 : n < 200 ? 1 : 9 }) }),
  )
  storeProfiles(directory, profiles)
  const { data } = await shop(t, directory)
  const { since } = await data(`?method=GET&route=/museums/:id&at=${start}`)
  t.match(since, { count: 200, queries: { least: 1, threeQuarters: 1, most: 7 } })
})

t.test('two requests of different routes are compared, and every form says so', async t => {
  const { app, tokenOf, show, data } = await shop(t)
  app.get('/fair', async () => 'fair')
  const path = `/${await tokenOf('/cart')}/${await tokenOf('/fair')}`
  t.match(await show(path), '<p class="notice">A and B are different routes: GET /cart and GET /fair.<')
  t.match(await show(path, 'text/markdown'), /^# .*, of two different routes: /)
  t.match((await data(path)).sentence, 'of two different routes')
  t.notMatch(await show(path), 'Replay B')
})

t.test('a difference that was seen once becomes certain by replays of B', async t => {
  const directory = makeFolder()
  const { routing } = profile()
  routing.matched = routing.matched && { ...routing.matched, url: '/cart' }
  const before = Array.from({ length: 5 }, (_, n) =>
    profile({ token: `old-${n}`, url: '/cart', duration: 60_000 + n, time: Date.now() - 90_000 + n, routing }),
  )
  storeProfiles(directory, before)
  const { app, tokenOf, show, data } = await shop(t, directory)
  const b = await tokenOf('/cart')
  const path = `/old-0/${b}`
  t.match(await data(path), { verdict: { sureness: 'seen', requests: { a: 5, b: 1 } } })
  t.match(await show(path), `<form method="post" action="/_profiler/compare${path}"><button`)
  t.match(await show(path), 'There are 5 requests like A and 1 like B: send B again.')
  const url = `/_profiler/compare${path}`
  t.equal((await app.inject({ method: 'POST', url })).statusCode, 403)
  t.match(await app.inject({ method: 'POST', url, headers: { 'sec-fetch-site': 'same-origin' } }), {
    statusCode: 303,
    headers: { location: url },
  })
  t.match(await data(path), { verdict: { sureness: 'certain', change: 'faster', requests: { a: 5, b: 8 } } })
  t.notMatch(await show(path), 'Replay B')
})
