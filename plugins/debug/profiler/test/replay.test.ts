import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import profiler from '../index.ts'
import type { Profile } from '../base/profile.ts'
import { replay } from '../replay/replay.ts'
import { NotRepeatable } from '../replay/repeatable-request.ts'
import { makeFolder } from './folder.ts'
import { deferred, listen, profiledApp, sendRaw } from './profiled-app.ts'
import { hostileStrings } from './views/hostile-profile.ts'

const ownPage = { 'sec-fetch-site': 'same-origin' }
const html = { accept: 'text/html' }

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

async function ask(app: FastifyInstance, request: InjectOptions | string): Promise<string> {
  return String((await app.inject(request)).headers['x-debug-token'])
}

const post = async (app: FastifyInstance, token: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: `/_profiler/${token}/replay`, headers: { ...ownPage, ...headers } })

/** The profile of a replay. Fails if there was none. */
async function replayed(app: FastifyInstance, token: string): Promise<Profile> {
  const answer = await post(app, token)
  const profile = await app.profiler.find(String(answer.headers.location).replace('/_profiler/', ''))
  if (profile === null) throw new Error(`Not replayed: ${answer.statusCode} ${answer.body}`)
  return profile
}

async function profileOf(app: FastifyInstance, token: string): Promise<Profile> {
  const profile = await app.profiler.find(token)
  if (profile === null) throw new Error(`There is no profile ${token}.`)
  return profile
}

t.test('a replay leads to the profile of the new request, which names the original', async t => {
  const { app } = await gallery(t)
  const token = await ask(app, '/rooms/7?lang=fr')
  const answer = await post(app, token)
  t.equal(answer.statusCode, 303)
  const url = String(answer.headers.location)
  t.match((await app.inject(url)).json(), { parent: token, isReplay: true, url: '/rooms/7?lang=fr', status: 200 })
  t.match((await app.inject({ url, headers: { accept: 'text/markdown' } })).body, `- Replay of: \`${token}\``)
  const page = (await app.inject({ url, headers: html })).body
  t.match(page, `<dt>Replay of</dt> <dd><a href="/_profiler/${token}">${token}</a>`)
  t.match(page, `href="/_profiler/compare/${token}/${url.slice('/_profiler/'.length)}">Compare with the original</a>`)
})

t.test('the original lists its replays, apart from its subrequests', async t => {
  const { app } = await gallery(t)
  const token = await ask(app, '/inner')
  const replay = await replayed(app, token)
  const page = (await app.inject({ url: `/_profiler/${token}`, headers: html })).body
  t.match(page, new RegExp(`<dt>Replays</dt> <dd><a href="/_profiler/${replay.token}">200 · [<\\d.]+ ms</a>`))
  t.match(page, /<dt>Subrequests<\/dt> <dd><a href="[^"]*">200 GET \/rooms\/1/)
  const { profiles } = await app.profiler.search({ parent: replay.token })
  t.match(profiles, [{ url: '/rooms/1' }])
  t.notOk('isReplay' in Object(profiles[0]), 'a request that the replay makes is none')
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

t.test(
  'headers that are masked or of a connection are not replayed, and the profile names the masked ones',
  async t => {
    const { app, seen } = await gallery(t)
    const token = await ask(app, {
      url: '/rooms/7',
      headers: { cookie: 'session=1', authorization: 'Bearer abcdefgh123', connection: 'keep-alive', 'x-room': '7' },
    })
    t.same((await replayed(app, token)).notes, [
      'Replayed without cookie and authorization, which are masked or shortened.',
    ])
    t.match(seen[1]?.headers, { 'x-room': '7' })
    for (const name of ['cookie', 'authorization', 'connection']) t.notOk(name in Object(seen[1]?.headers), name)
    const long = await ask(app, { url: '/rooms/7', headers: { 'x-long': 'x'.repeat(9000) } })
    t.same((await replayed(app, long)).notes, ['Replayed without x-long, which is masked or shortened.'])
  },
)

t.test('a replay repeats a header as often as the original', async t => {
  const { app, seen } = await gallery(t)
  const { port } = await listen(app)
  await sendRaw(port, 'GET /rooms/7 HTTP/1.1\r\nHost: a\r\nX-Tag: one\r\nX-Tag: two\r\nConnection: close\r\n\r\n')
  await replayed(app, 'latest')
  t.match(seen[1]?.headers, { 'x-tag': 'one, two' })
})

t.test('a GET is replayed without its body, and the profile says so', async t => {
  const { app, seen } = await gallery(t)
  const { port } = await listen(app)
  await sendRaw(port, 'GET /rooms/7 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc')
  t.same((await replayed(app, 'latest')).notes, ['Replayed without the body.'])
  t.notOk('content-length' in Object(seen[1]?.headers))
})

t.test('a request over HTTP/2 is replayed with its authority as its host', async t => {
  const { app, seen } = await gallery(t)
  const profile = await profileOf(app, await ask(app, '/rooms/7'))
  profile.request.headers = [
    [':method', 'GET'],
    [':authority', 'localhost:4700'],
    ['x-room', '7'],
  ]
  profile.ip = null
  t.type(await replay(app, profile), 'string')
  t.match(seen[1], { ip: '127.0.0.1', headers: { host: 'localhost:4700', 'x-room': '7' } })
})

t.test('a profile whose headers were left out is replayed without them, and says so', async t => {
  const { app } = await gallery(t)
  const profile = await profileOf(app, await ask(app, '/rooms/7'))
  profile.dropped = [{ what: 'headers', count: 3, why: 'A stored profile holds 10 bytes.' }]
  profile.ip = '[masked]'
  const token = await replay(app, profile)
  t.match(await profileOf(app, String(token)), {
    ip: '127.0.0.1',
    notes: ['Replayed without headers, which are not stored.'],
  })
})

t.test('a profile without an address is replayed from 127.0.0.1, and says so', async t => {
  const { app, seen } = await gallery(t)
  const profile = await profileOf(app, await ask(app, { url: '/rooms/7', remoteAddress: '127.0.0.9' }))
  for (const ip of [null, '[masked]']) {
    const token = await replay(app, { ...profile, ip })
    t.equal(seen.at(-1)?.ip, '127.0.0.1')
    t.same((await profileOf(app, String(token))).notes, [
      'Replayed from 127.0.0.1, since the address of the client is not known.',
    ])
  }
})

t.test('a request that may change something is not replayed', async t => {
  const { app, seen } = await gallery(t)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
    const token = await ask(app, { method, url: '/rooms/7' })
    const message = `Only GET and HEAD can be replayed: a ${method} may change something.`
    const answer = await post(app, token)
    t.equal(answer.statusCode, 422)
    t.equal(answer.json().error, message)
    const page = (await post(app, token, html)).body
    t.match(page, message)
    t.match(page, `<code>curl &#39;http://localhost:80/rooms/7`)
    t.equal((await post(app, token, { accept: 'text/markdown' })).body, `# Not replayed\n\n${message}\n`)
    t.notMatch((await app.inject({ url: `/_profiler/${token}`, headers: html })).body, '>Replay<')
  }
  t.equal(seen.length, 4)
})

t.test('a URL that would arrive as another one is not replayed', async t => {
  const { app, seen } = await gallery(t)
  const { port } = await listen(app)
  const refusals = async (url: string) => {
    await sendRaw(port, `GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    const { length } = seen
    const { error } = (await post(app, 'latest')).json()
    t.equal(seen.length, length, 'it is not sent again')
    return error
  }
  for (const url of [
    '/rooms/../7',
    '/rooms/"7"',
    '/rooms/7#a',
    'http://a/rooms/7',
    'http://[/rooms',
    '/rooms/7?\xe9',
  ]) {
    t.match(await refusals(url), 'The URL is not in its normal form', url)
  }
  for (const url of ['/rooms/7?token=abcdefgh123', `/rooms/7?${'x'.repeat(5000)}`]) {
    t.match(await refusals(url), 'The URL is masked or shortened', url.slice(0, 50))
  }
})

t.test('a path that begins with two slashes reaches no other host', async t => {
  const { app, seen } = await gallery(t)
  const { port } = await listen(app)
  await sendRaw(port, 'GET //evil.test/rooms HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await replayed(app, 'latest')
  t.match(seen[1], { url: '//evil.test/rooms', headers: { host: 'a' } })
})

t.test('a connection that was upgraded is not replayed', async t => {
  const { app } = await gallery(t)
  const profile = await profileOf(app, await ask(app, '/rooms/7'))
  t.match(await replay(app, { ...profile, outcome: 'upgraded' }), { message: /another protocol/ })
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
  const profile = await profileOf(app, await ask(app, { url: '/rooms/7?isReplay=true', headers: forged }))
  t.equal(profile.parent, token, 'a trace names its parent')
  t.notOk('isReplay' in profile)
})

t.test('the replay of a replay names that replay as its original', async t => {
  const { app } = await gallery(t)
  const first = await replayed(app, await ask(app, '/rooms/7'))
  t.match(await replayed(app, first.token), { parent: first.token, isReplay: true })
})

t.test('only pages of the same origin can replay', async t => {
  const { app, seen } = await gallery(t)
  const token = await ask(app, '/rooms/7')
  const others: Array<Record<string, string>> = [
    {},
    { origin: 'http://evil.test', host: 'localhost:4700' },
    { origin: 'null' },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of others) {
    const answer = await app.inject({ method: 'POST', url: `/_profiler/${token}/replay`, headers })
    t.equal(answer.statusCode, 403)
    t.equal(answer.body, 'Sent by another site.\n')
  }
  t.equal(seen.length, 1)
  const headers = { origin: 'http://localhost:4700', host: 'localhost:4700' }
  t.equal((await app.inject({ method: 'POST', url: `/_profiler/${token}/replay`, headers })).statusCode, 303)
})

t.test('a form of a page replays, whatever the application thinks of forms', async t => {
  const { app } = await gallery(t)
  app.removeAllContentTypeParsers()
  const token = await ask(app, '/rooms/7')
  t.match(
    (await app.inject({ url: `/_profiler/${token}`, headers: html })).body,
    `<form method="post" action="/_profiler/${token}/replay"><button>Replay</button></form>`,
  )
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  t.equal((await post(app, token, form)).statusCode, 303)
})

t.test('the replay of an unknown token is a 404, and so is every replay without access', async t => {
  const { app } = await gallery(t)
  const token = await ask(app, '/rooms/7')
  t.match((await post(app, 'gone')).json().error, 'There is no profile "gone"')
  const outside = await app.inject({
    method: 'POST',
    url: `/_profiler/${token}/replay`,
    headers: ownPage,
    remoteAddress: '203.0.113.5',
  })
  t.equal(outside.json().message, `Route POST:/_profiler/${token}/replay not found`)
  const get = await app.inject(`/_profiler/${token}/replay`)
  t.equal(get.statusCode, 404)
})

t.test('the replay of a request that fails has its exception, too', async t => {
  const { app } = await gallery(t)
  app.get('/fails', async () => {
    throw new Error('it broke')
  })
  t.match(await replayed(app, await ask(app, '/fails')), { status: 500, exceptions: [{ message: 'it broke' }] })
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
  const profile = await profileOf(app, await ask(app, '/endless'))
  const token = String(await replay(app, profile, 20))
  t.match(await profileOf(app, token), { outcome: 'aborted', notes: ['The replay was stopped after 0.02 s.'] })
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
  const profile = await profileOf(app, await ask(app, '/deaf'))
  const token = String(await replay(app, profile, 50))
  t.match((await app.inject(`/_profiler/${token}`)).json().error, 'is still running')
  resolve()
  await app.profiler.settled()
  while (app.profiler.pending > 0) await new Promise(resolve => setImmediate(resolve))
  t.match(await profileOf(app, token), { status: 200, notes: ['The replay was stopped after 0.05 s.'] })
})

t.test('a replay that Fastify refuses before any hook has no profile, and says so', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder(t) })
  app.get('/rooms', async () => 'ok')
  const { port } = await listen(app)
  await sendRaw(port, 'GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.match((await post(app, 'latest')).json(), {
    error: 'The replay has no profile: Fastify refused it before any hook ran.',
  })
})

t.test('of several applications that share their profiles, the one that answered answers again', async t => {
  const directory = makeFolder(t)
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
  const directory = makeFolder(t)
  const [one, other] = [await gallery(t, { directory }), await gallery(t, { directory })]
  await other.app.ready()
  const token = await ask(one.app, '/rooms/7')
  await one.app.close()
  const { notes } = await replayed(other.app, token)
  t.equal(other.seen.length, 1)
  t.same(notes, ['Replayed by another application than the original, which has closed.'])
})

t.test('a request that another process has answered is replayed, and the profile says so', async t => {
  const { app } = await gallery(t)
  const profile = await profileOf(app, await ask(app, '/rooms/7'))
  const { id, startedAt } = profile.process
  for (const process of [
    { id: id + 1, startedAt },
    { id, startedAt: startedAt - 1 },
  ]) {
    const token = await replay(app, { ...profile, process, configuration: 'earlier' })
    t.same((await profileOf(app, String(token))).notes, [
      'Replayed by another process than the original, such as the application after a restart.',
    ])
  }
})

t.test('a replay that cannot be sent is refused with a reason', async t => {
  const { app } = await gallery(t)
  const profile = await profileOf(app, await ask(app, '/rooms/7'))
  const refusing = Object.assign(Object.create(app) as FastifyInstance, {
    inject: () => Promise.reject(new Error('no')),
  })
  t.type(await replay(refusing, profile), NotRepeatable)
})
