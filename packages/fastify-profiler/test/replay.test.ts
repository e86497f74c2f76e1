import type { FastifyInstance, InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import type { Profile } from '../core/profile.ts'
import { replay } from '../features/replay/replay.ts'
import { makeFolder } from './folder.ts'
import {
  deferred,
  everythingStored,
  getRaw,
  listen,
  pageOf,
  plainApp,
  profiledApp,
  profileOf,
  sendRaw,
} from './profiled-app.ts'
import { hostileStrings } from './views/hostile-profile.ts'

const ownPage = { 'sec-fetch-site': 'same-origin' }

/** An application that tells what reaches it. */
async function gallery(t: Test, options: Parameters<typeof profiledApp>[1] = {}) {
  const app = await profiledApp(t, options)
  const seen: Array<{ method: string; url: string; ip: string; headers: object }> = []
  app.addHook('onRequest', async ({ headers, ip, method, raw }) => {
    seen.push({ method, url: String(raw.url), ip, headers: { ...headers } })
  })
  app.all('/rooms/:room', async () => 'a room')
  app.get('/inner', async () => {
    await app.inject('/rooms/1')
    return 'ok'
  })
  return { app, seen }
}

const ask = async (app: FastifyInstance, request: InjectOptions | string) => (await profileOf(app, request)).token

const post = async (app: FastifyInstance, token: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: `/_profiler/${token}/replay`, headers: { ...ownPage, ...headers } })

/** The profile of a replay. Fails if there was none. */
async function replayed(app: FastifyInstance, token: string): Promise<Profile> {
  const answer = await post(app, token)
  const profile = await app.profiler.find(String(answer.headers.location).replace('/_profiler/', ''))
  if (profile === null) throw new Error(`Not replayed: ${answer.statusCode} ${answer.body}`)
  return profile
}

async function stored(app: FastifyInstance, token: unknown): Promise<Profile> {
  const profile = await app.profiler.find(String(token))
  if (profile === null) throw new Error(`There is no profile ${String(token)}.`)
  return profile
}

t.test('a replay leads to the profile of the new request, and both name each other', async t => {
  const { app } = await gallery(t)
  const token = await ask(app, '/inner?lang=fr')
  const answer = await post(app, token)
  t.equal(answer.statusCode, 303)
  const replay = String(answer.headers.location).replace('/_profiler/', '')
  t.match(await stored(app, replay), { parent: token, isReplay: true, url: '/inner?lang=fr', status: 200 })
  t.match(await pageOf(app, replay, 'text/markdown'), `- Replay of: \`${token}\``)
  const page = await pageOf(app, replay)
  t.match(page, `<dt>Replay of</dt> <dd><a href="/_profiler/${token}">${token}</a>`)
  t.match(page, `href="/_profiler/compare/${token}/${replay}">Compare with the original</a>`)
  const original = await pageOf(app, token)
  t.match(original, new RegExp(`<dt>Replays</dt> <dd><a href="/_profiler/${replay}">200 · [<\\d.]+ ms</a>`))
  t.match(original, /<dt>Subrequests<\/dt> <dd><a href="[^"]*">200 GET \/rooms\/1/)
  const { profiles } = await app.profiler.search({ parent: replay })
  t.match(profiles, [{ url: '/rooms/1' }])
  t.notOk('isReplay' in Object(profiles[0]), 'a request that the replay makes is none')
  t.match(await replayed(app, replay), { parent: replay, isReplay: true })
})

t.test('a replay has the method, URL, headers, host and address of the original', async t => {
  const { app, seen } = await gallery(t)
  const headers = { host: 'localhost:4700', 'accept-language': 'fr', 'x-empty': '', 'x-text': "it's é" }
  for (const method of ['GET', 'HEAD'] as const) {
    const url = "/rooms/a%20b?x[]='1'&y=é".replaceAll("'", '').replace('é', '%C3%A9')
    const token = await ask(app, { method, url, headers, remoteAddress: '127.0.0.9' })
    const { notes } = await replayed(app, token)
    const [first, second] = seen.splice(0)
    t.match(second, { method, url, ip: '127.0.0.9', headers })
    t.same(second, first)
    t.same(notes, [])
  }
})

t.test('what is masked, of a connection or a body is not replayed, and the profile names it', async t => {
  const { app, seen } = await gallery(t)
  const { port } = await listen(app)
  for (const [headers, notes, without] of [
    [
      'cookie: session=1\r\nauthorization: Bearer abcdefgh123\r\nx-room: 7',
      ['Replayed without cookie and authorization, which are masked or shortened.'],
      ['cookie', 'authorization'],
    ],
    [
      `x-room: 7\r\nx-long: ${'x'.repeat(9000)}`,
      ['Replayed without x-long, which is masked or shortened.'],
      ['x-long'],
    ],
    ['x-room: 7\r\ncontent-length: 0', [], ['content-length']],
  ] as const) {
    await getRaw(port, '/rooms/7', `host: a\r\n${headers}`)
    t.same((await replayed(app, 'latest')).notes, notes)
    t.match(seen.at(-1)?.headers, { 'x-room': '7' })
    for (const name of [...without, 'connection']) t.notOk(name in Object(seen.at(-1)?.headers), name)
  }
  const body = 'host: a\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc'
  await sendRaw(port, `GET /rooms/7 HTTP/1.1\r\n${body}`)
  t.same((await replayed(app, 'latest')).notes, ['Replayed without the body.'])
  t.notOk('content-length' in Object(seen.at(-1)?.headers))
})

t.test('a replay repeats headers as often as the original, and `//` in a path leads to no other host', async t => {
  const { app, seen } = await gallery(t)
  const { port } = await listen(app)
  await getRaw(port, '//evil.test/rooms', 'host: a\r\nx-tag: one\r\nx-tag: two')
  await replayed(app, 'latest')
  t.match(seen[1], { url: '//evil.test/rooms', headers: { host: 'a', 'x-tag': 'one, two' } })
})

t.test('a stored profile is replayed as far as it tells the request, and the new one says what it lacks', async t => {
  const { app, seen } = await gallery(t)
  const profile = await profileOf(app, { url: '/rooms/7', remoteAddress: '127.0.0.9' })
  const { id, startedAt } = profile.process
  const pseudo: Array<[string, string]> = [
    [':method', 'GET'],
    [':authority', 'localhost:4700'],
    ['x-room', '7'],
  ]
  const noAddress = 'Replayed from 127.0.0.1, since the address of the client is not known.'
  const later = 'Replayed by another process than the original, such as the application after a restart.'
  const headers = { what: 'headers', count: 3, why: 'A stored profile holds 10 bytes.' }
  for (const [changes, notes, arrived] of [
    [
      { request: { ...profile.request, headers: pseudo } },
      [],
      { ip: '127.0.0.9', headers: { host: 'localhost:4700', 'x-room': '7' } },
    ],
    [{ dropped: [headers] }, ['Replayed without headers, which are not stored.'], {}],
    [{ ip: null }, [noAddress], { ip: '127.0.0.1' }],
    [{ ip: '[masked]' }, [noAddress], { ip: '127.0.0.1' }],
    [{ process: { id: id + 1, startedAt }, configuration: 'earlier' }, [later], {}],
    [{ process: { id, startedAt: startedAt - 1 }, configuration: 'earlier' }, [later], {}],
  ] as const) {
    const token = await replay(app, { ...profile, ...(changes as Partial<Profile>) })
    t.same((await stored(app, token)).notes, notes)
    t.match(seen.at(-1), arrived)
  }
  t.match(await replay(app, { ...profile, outcome: 'upgraded' }), { message: /another protocol/ })
})

t.test('a request that may change something is not replayed', async t => {
  const { app, seen } = await gallery(t)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
    const token = await ask(app, { method, url: '/rooms/7' })
    const message = `Only GET and HEAD can be replayed: a ${method} may change something.`
    const answer = await post(app, token)
    t.equal(answer.statusCode, 422)
    t.equal(answer.json().error, message)
    const page = (await post(app, token, { accept: 'text/html' })).body
    t.match(page, message)
    t.match(page, `<code>curl &#39;http://localhost:80/rooms/7`)
    t.match((await post(app, token, { accept: 'text/markdown' })).body, `# Not replayed\n\n${message}\n`)
    t.notMatch(await pageOf(app, token), '>Replay<')
  }
  t.equal(seen.length, 4)
})

t.test('a URL that would arrive as another one is not replayed', async t => {
  const { app, seen } = await gallery(t)
  const { port } = await listen(app)
  const refusals = async (url: string) => {
    await getRaw(port, url)
    const { length } = seen
    const { error } = (await post(app, 'latest')).json()
    t.equal(seen.length, length, 'it is not sent again')
    return error
  }
  const others = ['/rooms/../7', '/rooms/"7"', '/rooms/7#a', 'http://a/rooms/7', 'http://[/rooms', '/rooms/7?\xe9']
  for (const url of others) {
    t.match(await refusals(url), 'The URL is not in its normal form', url)
  }
  for (const url of ['/rooms/7?token=abcdefgh123', `/rooms/7?${'x'.repeat(5000)}`]) {
    t.match(await refusals(url), 'The URL is masked or shortened', url.slice(0, 50))
  }
})

t.test('hostile texts arrive as they were, or the request is not replayed', async t => {
  const { app, seen } = await gallery(t)
  for (const [index, hostile] of hostileStrings.entries()) {
    const text = hostile.replace(/[^\t -~\x80-\xff]/g, '')
    const url = `/rooms/${index}?q=${encodeURIComponent(text)}`
    const token = await ask(app, { url, headers: { 'x-text': text, [`x-${index}`]: '__proto__' } })
    const answer = await post(app, token)
    const [first, second] = seen.splice(0)
    if (answer.statusCode === 303) t.same(second, first, `string ${index + 1}`)
    else t.match(answer.json().error, /masked or shortened/, `string ${index + 1}`)
  }
})

t.test('no client can pass its request off as a replay', async t => {
  const { app } = await gallery(t)
  const token = await ask(app, '/rooms/7')
  const forged = { tracestate: `fastify-profiler=${token}`, 'x-replay': token, isreplay: 'true', replay: token }
  const profile = await profileOf(app, { url: '/rooms/7?isReplay=true', headers: forged })
  t.equal(profile.parent, token, 'a trace names its parent')
  t.notOk('isReplay' in profile)
})

t.test('a form of a page replays, whatever the application thinks of forms', async t => {
  const { app } = await gallery(t)
  app.removeAllContentTypeParsers()
  const token = await ask(app, '/rooms/7')
  const found = await pageOf(app, token)
  t.match(found, `<form method="post" action="/_profiler/${token}/replay"><button>Replay</button></form>`)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  t.equal((await post(app, token, form)).statusCode, 303)
})

t.test('the replay of an unknown token is a 404', async t => {
  const { app } = await gallery(t)
  t.match((await post(app, 'gone')).json().error, 'There is no profile "gone"')
})

t.test('a replay does not keep a large response', async t => {
  const { app } = await gallery(t)
  const chunk = Buffer.alloc(1_000_000)
  app.get('/large', (_request, reply) => {
    reply.hijack()
    let left = 50
    const write = () => {
      while (left-- > 0) if (!reply.raw.write(chunk)) return reply.raw.once('drain', write)
      return reply.raw.end()
    }
    write()
  })
  const token = await ask(app, { method: 'HEAD', url: '/large' })
  const before = process.memoryUsage().arrayBuffers
  t.match(await replayed(app, token), { outcome: 'hijacked' })
  t.ok(process.memoryUsage().arrayBuffers - before < 25_000_000)
})

t.test('a replay whose response does not end is stopped, and its profile says so', async t => {
  const { app } = await gallery(t)
  let isFirst = true
  app.get('/endless', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.raw.write('data: 1\n\n')
    if (isFirst) reply.raw.end()
    isFirst = false
  })
  const profile = await profileOf(app, '/endless')
  const token = String(await replay(app, profile, 20))
  t.match(await stored(app, token), { outcome: 'aborted', notes: ['The replay was stopped after 0.02 s.'] })
})

t.test('a replay that goes on although its client has left is given up, and shown as running', async t => {
  const { app } = await gallery(t)
  const { promise, resolve } = deferred()
  let isFirst = true
  app.get('/deaf', async ({ raw }) => {
    if (isFirst) return ((isFirst = false), 'ok')
    raw.resume()
    await promise
    return 'late'
  })
  const profile = await profileOf(app, '/deaf')
  const token = String(await replay(app, profile, 1000))
  t.match((await app.inject(`/_profiler/${token}`)).json().error, 'is still running')
  resolve()
  await everythingStored(app)
  t.match(await stored(app, token), { status: 200, notes: ['The replay was stopped after 1 s.'] })
})

t.test('a replay that Fastify refuses before any hook has no profile, and says so', async t => {
  const app = await plainApp(t)
  app.get('/rooms', async () => 'ok')
  const { port } = await listen(app)
  await getRaw(port, '/%zz')
  t.match((await post(app, 'latest')).json(), {
    error: 'The replay has no profile: Fastify refused it before any hook ran.',
  })
})

t.test('of several applications that share their profiles, the one that answered answers again', async t => {
  const directory = makeFolder()
  const [one, other] = [await gallery(t, { directory }), await gallery(t, { directory })]
  one.app.get('/only-here', async () => 'ok')
  await Promise.all([one.app.ready(), other.app.ready()])
  const token = await ask(one.app, '/rooms/7')
  await one.app.profiler.settled()
  t.equal((await post(other.app, token)).statusCode, 303)
  t.equal(one.seen.length, 2)
  t.equal(other.seen.length, 0)
})

t.test('a request whose application has closed is replayed by another, and the profile says so', async t => {
  const directory = makeFolder()
  const [one, other] = [await gallery(t, { directory }), await gallery(t, { directory })]
  await other.app.ready()
  const token = await ask(one.app, '/rooms/7')
  await one.app.close()
  const { notes } = await replayed(other.app, token)
  t.equal(other.seen.length, 1)
  t.same(notes, ['Replayed by another application than the original, which has closed.'])
})
