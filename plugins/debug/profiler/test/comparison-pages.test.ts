import Fastify from 'fastify'
import t, { type Test } from 'tap'
import profiler from '../index.ts'
import { beginQuery } from '../watch/queries.ts'
import { makeFolder } from './folder.ts'
import { profiledApp } from './profiled-app.ts'

const html = { accept: 'text/html' }
const markdown = { accept: 'text/markdown' }

/** An application whose route sends as many queries as it is asked for. */
async function shop(t: Test) {
  const app = await profiledApp(t)
  app.get<{ Querystring: { queries?: string; warn?: string } }>('/cart', async request => {
    const { queries, warn } = request.query
    for (let n = 0; n < Number(queries ?? 0); n++) {
      const asked = { system: 'postgresql', statement: 'select * from products where id = $1', parameters: [n] }
      beginQuery({ ...asked, connection: null }, beginQuery)?.end(1)
    }
    if (warn !== undefined) request.log.warn(warn)
    return 'cart'
  })
  const tokenOf = async (url: string) => String((await app.inject(url)).headers['x-debug-token'])
  const show = async (path: string, headers: Record<string, string> = html) =>
    app.inject({ url: `/_profiler/compare${path}`, headers })
  return { app, tokenOf, show }
}

t.test('a comparison is a page, JSON and Markdown', async t => {
  const { tokenOf, show } = await shop(t)
  const [a, b] = [await tokenOf('/cart?queries=20'), await tokenOf('/cart?queries=1&warn=sold+out')]
  const page = await show(`/${a}/${b}`)
  t.equal(page.statusCode, 200)
  t.match(page.body, '20 × select products became 1.')
  t.match(page.body, '1 new warning in the log:</b> sold out')
  t.match(page.body, `href="/_profiler/compare/${b}/${a}">Swap A and B`)
  t.match(page.body, 'href="/_profiler/compare?method=GET&amp;route=%2Fcart&amp;at=')
  const json = (await show(`/${a}/${b}`, {})).json()
  t.match(json, {
    a: { token: a },
    b: { token: b },
    statements: [{ shape: 'select * from products where id = ?', a: { count: 20 }, b: { count: 1 } }],
  })
  t.type(json.sentence, 'string')
  t.match((await show(`/${a}/${b}`, markdown)).body, /^# .*\n\n- A: 200 OK, `GET \/cart\?queries=20`/)
})

t.test('a comparison tells what a profile leaves out', async t => {
  const app = await profiledApp(t, { profileBounds: { spans: 1 } })
  app.get('/cart', async ({ recorder }) => {
    recorder?.record({ kind: 'query', name: 'one' }, 1)
    return 'cart'
  })
  const [a, b] = [await app.inject('/cart'), await app.inject('/cart')]
  const url = `/_profiler/compare/${a.headers['x-debug-token']}/${b.headers['x-debug-token']}`
  const { body } = await app.inject({ url, headers: html })
  t.match(body, '<p class="notice">The profile of A is incomplete. Left out: spans (1).</p>')
  t.match(body, '<p class="notice">The profile of B is incomplete. Left out: spans (1).</p>')
})

t.test('an unknown token is a 404 that names it', async t => {
  const { tokenOf, show } = await shop(t)
  const token = await tokenOf('/cart')
  for (const [path, missing] of [
    [`/${token}/unknown`, 'unknown'],
    [`/gone/${token}`, 'gone'],
  ] as const) {
    const answer = await show(path)
    t.equal(answer.statusCode, 404)
    t.match(answer.body, `There is no profile &quot;${missing}&quot;`)
  }
})

t.test('two ticked requests of the list are compared, the older one first', async t => {
  const { app, tokenOf, show } = await shop(t)
  const [older, newer] = [await tokenOf('/cart'), await tokenOf('/cart')]
  const list = (await app.inject({ url: '/_profiler/', headers: html })).body
  t.match(list, new RegExp(`name="request" value="${newer}".*name="request" value="${older}"`, 's'))
  t.match(list, '<form class="tray only-wide" id="compare" action="/_profiler/compare"')
  const answer = await show(`?request=${newer}&request=${older}`)
  t.equal(answer.statusCode, 302)
  t.equal(answer.headers.location, `/_profiler/compare/${older}/${newer}`)
})

t.test('a comparison of one or three requests, or of none, says that it needs two', async t => {
  const { tokenOf, show } = await shop(t)
  const token = await tokenOf('/cart')
  const others = [
    '',
    `?request=${token}`,
    `?request=${token}&request=${token}&request=${token}`,
    '?route=/cart',
    '?at=9',
  ]
  for (const query of others) {
    const answer = await show(query)
    t.equal(answer.statusCode, 404, query)
    t.match(answer.body, 'A comparison needs two requests.')
  }
  t.match((await show('', markdown)).body, 'A comparison needs two requests')
})

t.test('a request is compared with the previous one of its route', async t => {
  const { app, tokenOf } = await shop(t)
  const first = await tokenOf('/cart')
  await tokenOf('/nowhere')
  const second = await tokenOf('/cart?queries=1')
  const pageOf = async (token: string) => (await app.inject({ url: `/_profiler/${token}`, headers: html })).body
  t.match(await pageOf(second), `href="/_profiler/compare/${first}/${second}">Compare with the previous`)
  t.notMatch(await pageOf(first), 'Compare with the previous')
  t.notMatch(await pageOf(await tokenOf('/nowhere')), 'Compare with the previous')
})

t.test('requests of no route are compared, in either order', async t => {
  const { tokenOf, show } = await shop(t)
  const [older, newer] = [await tokenOf('/nowhere'), await tokenOf('/nothing')]
  t.equal((await show(`/${newer}/${older}`, {})).json().a.route, null)
})

t.test('a route is compared before a moment and since', async t => {
  const { app, tokenOf, show } = await shop(t)
  for (let n = 0; n < 9; n++) await tokenOf('/cart?queries=2')
  const { profiles } = await app.profiler.search({})
  const at = Number(profiles[0]?.time)
  const query = `?method=GET&route=/cart&at=${at}`
  const page = await show(query)
  t.equal(page.statusCode, 200)
  t.match(page.body, '<code>GET /cart</code> before')
  t.match(page.body, 'A verdict on time needs 8 answered requests on each side.')
  t.match((await show(query, {})).json(), {
    route: '/cart',
    at,
    verdict: { change: 'noise' },
    since: { queries: { median: 2 } },
  })
  t.match((await show(query, markdown)).body, /\| Queries \| \d \| 2 \|/)
  t.match(
    (await show('?route=/nothing&at=2026-01-01T00:00:00', markdown)).body,
    '# Nothing to compare: 0 requests before, 0 since',
  )
})

t.test('of many requests since a moment, the first two hundred are compared', async t => {
  const { tokenOf, show } = await shop(t)
  await tokenOf('/cart?queries=7')
  for (let n = 0; n < 199; n++) await tokenOf('/cart?queries=1')
  for (let n = 0; n < 40; n++) await tokenOf('/cart?queries=9')
  const { since } = (await show('?method=GET&route=/cart&at=2026-01-01T00:00:00', {})).json()
  // Requests of one millisecond may change places.
  t.match(since, { count: 200, queries: { least: 1, threeQuarters: 1 } })
})

t.test('hardly any of 200 pairs of equal requests get a verdict, even on a busy machine', async t => {
  const { app, tokenOf, show } = await shop(t)
  const tokens: string[] = []
  for (let n = 0; n < 201; n++) tokens.push(await tokenOf('/cart?queries=3'))
  const verdicts = await Promise.all(
    tokens.slice(1).map(async (b, index) => (await show(`/${tokens[index]}/${b}`, {})).json().verdict),
  )
  t.equal(verdicts.length, 200)
  // A request that the machine has interrupted is indeed slower.
  t.ok(verdicts.filter(({ change }) => change !== 'noise').length <= 4)
  t.equal(app.profiler.pending, 0)
})

t.test('without access the comparison is an unknown path', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder(t) })
  for (const url of ['/_profiler/compare', '/_profiler/compare/a/b']) {
    t.equal((await app.inject({ url, remoteAddress: '203.0.113.5' })).json().message, `Route GET:${url} not found`)
  }
})
