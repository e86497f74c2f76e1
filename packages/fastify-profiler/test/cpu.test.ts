import { pbkdf2Sync } from 'node:crypto'
import { Session, type Profiler } from 'node:inspector'
import { Readable } from 'node:stream'
import type { FastifyInstance, InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import type { Profile } from '../core/profile.ts'
import type { Samples } from '../features/samples/samples.ts'
import { sampleIfAsked } from '../features/samples/sampling.ts'
import { makeFolder } from './folder.ts'
import {
  deferred,
  everythingStored,
  listen,
  onlyProfile,
  pageOf,
  profiledApp,
  profileOf,
  sendAndLeave,
} from './profiled-app.ts'
import { textOf } from './views/example-profile.ts'

const html = { accept: 'text/html' }
const ownPage = { 'sec-fetch-site': 'same-origin' }
const form = { 'content-type': 'application/x-www-form-urlencoded', ...ownPage }

/** Work that takes as long whatever else runs. Recursive: V8 does not tell the names of loops that it has optimised. */
function fibonacci(n: number): number {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)
}

function makeStrings(): number {
  const kept: string[] = []
  for (let n = 0; n < 100_000; n++) kept.push(`string ${n}`)
  return kept.length
}

/** Keeps the CPU busy until the process has used it for 200 ms, however little of it this process gets. */
function useCpu(work: () => unknown = () => fibonacci(27)): string {
  const start = process.cpuUsage()
  while (process.cpuUsage(start).user < 200_000) work()
  return 'done'
}

/** An application with work to sample. */
async function workshop(t: Test, options: Parameters<typeof profiledApp>[1] = {}): Promise<FastifyInstance> {
  const app = await profiledApp(t, options)
  // They do not hide the handler in the picture.
  for (let hook = 0; hook < 10; hook++) app.addHook('preHandler', (_request, _reply, done) => done())
  app.get('/busy', async () => useCpu())
  app.get('/strings', async () => makeStrings())
  app.get('/quick', async () => 'ok')
  return app
}

/** The profile of a request that asks to be sampled. */
const sampled = (app: FastifyInstance, url: string, kind = 'cpu') =>
  profileOf(app, { url, headers: { 'x-profile': kind } })

/** The profile of a request with ten samples of a function at least. On a busy machine the sampler hardly runs. */
async function sampledBusy(
  app: FastifyInstance,
  request: InjectOptions = {},
  beginning = 'fibonacci',
): Promise<Profile> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const profile = await profileOf(app, { url: '/busy', headers: { 'x-profile': 'cpu' }, ...request })
    const { nodes }: Profiler.Profile = (await app.inject(`/_profiler/${profile.token}/samples`)).json()
    const work = nodes.filter(({ callFrame }) => callFrame.functionName.startsWith(beginning))
    if (work.reduce((sum, { hitCount = 0 }) => sum + hitCount, 0) >= 10) return profile
  }
  throw new Error(`${beginning} has hardly any samples.`)
}

function samplesOf({ samples }: Profile): Samples {
  if (samples === undefined || 'why' in samples) throw new Error(`No samples: ${JSON.stringify(samples)}`)
  return samples
}

const panel = (app: FastifyInstance, { token }: Profile, accept?: string) => pageOf(app, `${token}?panel=cpu`, accept)

const post = (app: FastifyInstance, token: string, payload: string) =>
  app.inject({ method: 'POST', url: `/_profiler/${token}/samples`, headers: form, payload })

t.test('a function that keeps the CPU busy is the hottest of a request that asks for its CPU profile', async t => {
  const app = await workshop(t)
  const profile = await sampledBusy(app)
  const { charged, hot, interval, kind, others, total, unstored } = samplesOf(profile)
  t.match({ kind, others, unstored }, { kind: 'cpu', others: { count: 0 }, unstored: null })
  t.ok(interval >= 50 && interval < 10_000, `a sample every ${interval} µs`)
  t.match(hot[0], { function: 'fibonacci', kind: 'own' })
  t.ok(Number(hot[0]?.amount) > total / 2, `${hot[0]?.amount} of ${total} ms`)
  t.ok(charged.some(({ function: name }) => name === 'fibonacci'))
  t.ok(charged.every(({ kind }) => kind === 'own'))
  t.equal(profile.status, 200)
  t.ok(profile.spans.length > 0, 'spans are recorded as always')
})

t.test('a function of Node and generated code have the function that calls them', async t => {
  const app = await workshop(t)
  const hashPassword = () => pbkdf2Sync('password', 'salt', 1000, 32, 'sha256')
  app.get('/native', async () => useCpu(hashPassword))
  const items = { type: 'object', properties: { name: { type: 'string' }, year: { type: 'integer' } } }
  const schema = { response: { 200: { type: 'array', items } } }
  const works = Array.from({ length: 100_000 }, (_, year) => ({ name: `work ${year}`, year }))
  app.get('/generated', { schema }, async () => works)

  const native = await sampledBusy(app, { url: '/native' }, 'run')
  t.match(
    samplesOf(native).hot.find(({ function: name }) => name === 'run'),
    { location: null, caller: { function: 'hashPassword', location: { file: /cpu\.test\.ts$/ } } },
  )
  t.match(await pageOf(app, `${native.token}?panel=cpu`, 'text/markdown'), /called by `hashPassword` `.*cpu\.test/)
  const generated = await sampledBusy(app, { url: '/generated' }, 'anonymous')
  t.match(
    samplesOf(generated).hot.find(({ function: name }) => name.endsWith('(generated code)')),
    { kind: 'module', location: null, caller: { function: 'serialize', location: { file: /reply\.js$/ } } },
  )
})

t.test('a function that allocates is the hottest of a request that asks for its allocations', async t => {
  const app = await workshop(t)
  const profile = await sampled(app, '/strings', 'allocations')
  const { hot, kind, total } = samplesOf(profile)
  t.equal(kind, 'allocations')
  t.match(hot[0], { function: 'makeStrings', kind: 'own' })
  t.ok(Number(hot[0]?.amount) > total / 2, `${hot[0]?.amount} of ${total} bytes`)
  const page = await panel(app, profile)
  t.match(
    textOf(page),
    /makeStrings \([^ ]*cpu\.test\.ts:\d+\): \d+% of [\d.]+ MB allocated\. Sampled about every 16\.4 kB for/,
  )
  t.match(page, 'Download .heapprofile')
  t.match(page, '<text x="4" y="14">makeStrings</text>')
})

t.test('the growth of the memory outside the heap is said beside the allocations, which leave buffers out', async t => {
  const app = await workshop(t)
  const kept: Buffer[] = []
  app.get('/buffers', async () => {
    for (let n = 0; n < 20; n++) kept.push(Buffer.alloc(2_000_000))
    return 'done'
  })
  const page = await panel(app, await sampled(app, '/buffers', 'allocations'), 'text/markdown')
  t.match(page, /Memory outside the heap, such as that of buffers, grew by [34]\d\.\d MB: it is not sampled\./)
  t.equal(kept.length, 20)
  t.notMatch(await panel(app, await sampled(app, '/quick', 'allocations'), 'text/markdown'), 'outside the heap')
})

t.test('samples are shown as a picture and as hot lines, in files and Markdown, and can be taken along', async t => {
  const app = await workshop(t)
  const profile = await sampledBusy(app)
  const page = await panel(app, profile)
  t.match(
    textOf(page),
    /fibonacci \([^ ]*cpu\.test\.ts:\d+\): \d+% of [\d.]+ ms on the CPU\. Sampled about every [\d.]+ µs for [\d.]+ ms\./,
  )
  t.match(page, /<title>fibonacci [^<]*cpu\.test\.ts:\d+ \d+%<\/title><rect class="own"/)
  t.match(page, /<code>fibonacci<\/code><\/th><td[^>]*><code class="place">.*?cpu\.test\.ts:\d+<\/code> <small><code>/)
  t.notMatch(page, / style="| onclick=|<script>/)
  const found = await panel(app, profile, 'text/markdown')
  t.match(found, /## CPU\n\nfibonacci \(.*\): .*### Hot lines .*\n\n\| Function \| Line \|.*\n\| `fibonacci` \|/s)
  const { data } = JSON.parse(await panel(app, profile, 'application/json'))
  t.match(data, { kind: 'cpu', hot: [{ function: 'fibonacci' }] })
  t.notMatch(await pageOf(app, profile.token, 'application/json'), /"nodes"|"timeDeltas"/)
  const file = await pageOf(app, `${profile.token}/file`)
  t.match(file, '<text x="4" y="14">fibonacci</text>')
  t.notMatch(file, /X-Profile: cpu<\/code>|Download .cpuprofile/)
  const answer = await app.inject(`/_profiler/${profile.token}/samples`)
  t.equal(answer.headers['content-disposition'], `attachment; filename="profile-${profile.token}.cpuprofile"`)
  const { nodes, samples, timeDeltas }: Profiler.Profile = answer.json()
  t.equal(samples?.length, timeDeltas?.length)
  const [node] = nodes.filter(({ callFrame }) => callFrame.functionName === 'fibonacci')
  t.equal(node?.callFrame.url, import.meta.url, 'the paths are as recorded')
  const heap = await app.inject(`/_profiler/${(await sampled(app, '/strings', 'allocations')).token}/samples`)
  t.match(heap.headers['content-disposition'], '.heapprofile"')
  t.type(heap.json().head, 'object')
})

t.test('a request that was not sampled has no samples, and its panel tells how to get some', async t => {
  const app = await workshop(t)
  const profile = await profileOf(app, '/quick')
  t.notOk('samples' in profile)
  const { token } = profile
  t.match((await app.inject(`/_profiler/${token}/samples`)).json().error, `Request ${token} has no samples.`)
  t.equal((await app.inject('/_profiler/gone/samples')).statusCode, 404)
  const page = await panel(app, profile)
  t.match(page, /panel=cpu" aria-current="page" class="empty">CPU/)
  t.match(page, 'This request was not sampled.')
  t.match(page, '<code>X-Profile: cpu</code>')
  t.match(page, `action="/_profiler/${token}/samples"><button name="kind" value="cpu">`)
  t.match(await pageOf(app, `${token}/samples`), 'Open the profile')
  t.notMatch(await pageOf(app, token, 'text/markdown'), '## CPU')
})

t.test('without samples nothing is asked of the inspector', async t => {
  const app = await workshop(t)
  const { args } = t.capture(Session.prototype, 'post', Session.prototype.post)
  const profile = await profileOf(app, '/quick')
  await panel(app, profile)
  t.same(args(), [])
})

t.test('other values of the header, other clients, and hosts that are judged later sample nothing', async t => {
  const app = await workshop(t, {
    isTrustedHost: async host => (host === 'fails.test' ? Promise.reject(new Error('no')) : host === 'slow.test'),
  })
  for (const value of ['', 'CPU', 'cpu, cpu', 'heap', '__proto__', '<script>alert(1)</script>', 'x'.repeat(5000)]) {
    t.notOk('samples' in (await sampled(app, '/quick', value)), value.slice(0, 30))
  }
  const headers = { 'x-profile': 'cpu' }
  t.notOk('samples' in (await profileOf(app, { url: '/quick', headers, remoteAddress: '203.0.113.5' })))
  for (const host of ['evil.test', 'slow.test', 'fails.test']) {
    t.notOk('samples' in (await profileOf(app, { url: '/quick', headers: { ...headers, host } })), host)
  }
})

t.test('one request is sampled at a time, and another one says so', async t => {
  const app = await workshop(t)
  const { promise, resolve } = deferred()
  app.get('/slow', async () => promise)
  const slow = sampled(app, '/slow')
  const refused = await sampled(app, '/quick')
  t.match(refused.samples, { kind: 'cpu', why: /^Another request was being sampled/ })
  t.match(await panel(app, refused), 'class="notice warning">Another request was being sampled')
  t.match(await panel(app, refused, 'text/markdown'), '## CPU\n\nAnother request was being sampled')
  t.equal((await app.inject(`/_profiler/${refused.token}/samples`)).statusCode, 404)
  resolve()
  samplesOf(await slow)
})

t.test('the requests that run meanwhile are told, with links to their profiles', async t => {
  const app = await workshop(t)
  const [before, after] = [deferred(), deferred()]
  app.get('/before', async () => before.promise)
  app.get('/slow', async () => {
    before.resolve()
    await after.promise
    return app.inject('/inner').then(({ body }) => body)
  })
  app.get('/inner', async () => app.inject('/quick?inner').then(({ body }) => body))
  const first = profileOf(app, '/before')
  const slow = sampled(app, '/slow')
  const { token } = await first
  for (let n = 0; n < 21; n++) await profileOf(app, '/quick')
  after.resolve()
  const profile = await slow
  const { others } = samplesOf(profile)
  t.equal(others.count, 22, 'those that it makes itself are not counted')
  t.equal(others.tokens.length, 20)
  t.equal(others.tokens[0], token)
  const page = await panel(app, profile)
  t.match(
    page,
    `22 other requests ran meanwhile; their samples are in here. <a href="/_profiler/${token}">${token}</a>`,
  )
  t.match(page, ' and 2 more')
  t.match(await panel(app, profile, 'text/markdown'), '22 other requests ran meanwhile')
})

t.test('a button samples the next request to the route, once', async t => {
  const app = await workshop(t)
  app.get('/rooms/:room', async () => fibonacci(20))
  const profile = await profileOf(app, '/rooms/1')
  const answer = await post(app, profile.token, 'kind=cpu')
  t.equal(answer.statusCode, 303)
  t.equal(answer.headers.location, `/_profiler/${profile.token}?panel=cpu`)
  t.match(
    textOf(await panel(app, profile)),
    /The next request to GET \/rooms\/:room is sampled for its use of the CPU, if it comes before [\d-]+ [\d:]+ UTC/,
  )
  t.notOk('samples' in (await profileOf(app, '/quick')), 'another route')
  t.notOk('samples' in (await profileOf(app, '/missing')), 'no route')
  t.match(samplesOf(await profileOf(app, { url: '/rooms/2', remoteAddress: '203.0.113.5' })), { kind: 'cpu' })
  t.notOk('samples' in (await profileOf(app, '/rooms/3')), 'only once')
  t.notMatch(await panel(app, profile), 'The next request to')
  await post(app, profile.token, 'kind=allocations')
  t.match(textOf(await panel(app, profile)), 'is sampled for its allocations')
  t.match(samplesOf(await profileOf(app, '/rooms/4')), { kind: 'allocations' })
})

t.test('a route stays armed while another request is sampled', async t => {
  const app = await workshop(t)
  const { promise, resolve } = deferred()
  app.get('/slow', async () => promise)
  const { token } = await profileOf(app, '/quick')
  await post(app, token, 'kind=cpu')
  const slow = sampled(app, '/slow')
  t.notOk('samples' in (await profileOf(app, '/quick')))
  resolve()
  await slow
  samplesOf(await profileOf(app, '/quick'))
})

t.test('hot lines keep their place, though not their name, if a request has too many values to mask', async t => {
  const app = await workshop(t)
  app.post('/busy', async () => useCpu())
  const payload = Array.from({ length: 100_001 }, () => 1)
  const headers = { 'x-profile': 'cpu' }
  const profile = await sampledBusy(app, { method: 'POST', headers, payload }, '[left out]')
  const { hot } = samplesOf(profile)
  t.match(hot[0], { function: '[left out]', kind: 'own', location: { file: /cpu\.test\.ts$/ } })
  t.match(await panel(app, profile), /cpu\.test\.ts:\d+ \d+%<\/title><rect class="own"/)
  const [root] = (await app.inject(`/_profiler/${profile.token}/samples`)).json().nodes
  t.equal(root.callFrame.functionName, '(root)', 'the names of V8 are no secrets')
})

t.test('a route is armed for five minutes', async t => {
  const app = await workshop(t)
  const { token } = await profileOf(app, '/quick')
  await post(app, token, 'kind=cpu')
  const { now } = Date
  const { restore } = t.intercept(Date, 'now', { value: () => now() + 5 * 60_000 + 1000 })
  const late = await profileOf(app, '/quick')
  t.notOk('samples' in late)
  t.notMatch(await panel(app, late), 'The next request to')
  await post(app, token, 'kind=cpu')
  restore()
  const other = await profileOf(app, '/strings')
  const { restore: restoreAgain } = t.intercept(Date, 'now', { value: () => now() + 20 * 60_000 })
  await post(app, other.token, 'kind=cpu')
  restoreAgain()
  t.notMatch(await panel(app, late), 'The next request to', 'what has expired is forgotten')
  samplesOf(await profileOf(app, '/strings'))
})

t.test('a route is armed only by a form that names a kind', async t => {
  const app = await workshop(t)
  app.removeAllContentTypeParsers()
  const { token } = await profileOf(app, '/quick')
  for (const payload of ['', 'kind=', 'kind=CPU', 'kind=__proto__', 'kind[]=cpu', '{}', 'kind=%00<script>']) {
    const answer = await post(app, token, payload)
    t.equal(answer.statusCode, 400, payload)
    t.notMatch(answer.body, '<script>')
  }
  t.equal((await app.inject({ method: 'POST', url: `/_profiler/${token}/samples`, headers: ownPage })).statusCode, 400)
  t.equal((await post(app, token, `kind=cpu&x=${'x'.repeat(2000)}`)).statusCode, 413)
  t.equal((await post(app, 'gone', 'kind=cpu')).statusCode, 404)
  const { token: lost } = await profileOf(app, '/missing')
  t.equal((await post(app, lost, 'kind=cpu')).statusCode, 400)
  const page = await pageOf(app, `${lost}?panel=cpu`)
  t.match(page, '<code>X-Profile: allocations</code>.</p>')
  t.notMatch(page, 'name="kind"')
  t.notOk('samples' in (await profileOf(app, '/quick')))
})

t.test('a call of the picture leads to what it calls, drawn at full width, and from there to all calls', async t => {
  const app = await workshop(t)
  const profile = await sampled(app, '/busy')
  const page = await panel(app, profile)
  const [, link = '', name = ''] = /<a href="[^"]*(&amp;zoom=\d+)" aria-label="(\S+)/.exec(page) ?? []
  const zoomed = await pageOf(app, `${profile.token}?panel=cpu${link.replace('&amp;', '&')}`)
  t.match(zoomed, `x="0%" y="0" width="100%" height="19"><title>${name} `)
  t.match(zoomed, `href="/_profiler/${profile.token}?panel=cpu">All calls</a>`)
  for (const odd of ['99999', '0..0', '<script>', '1'.repeat(500), '-1']) {
    const answer = await app.inject(`/_profiler/${profile.token}?panel=cpu&zoom=${encodeURIComponent(odd)}`)
    t.equal(answer.statusCode, 200, odd)
    t.notMatch(answer.body, '<script>alert')
  }
})

t.test('samples over their bound are not stored, but their summary is', async t => {
  const app = await workshop(t, { profileBounds: { samples: 1000 } })
  const profile = await sampled(app, '/busy')
  const { hot, unstored } = samplesOf(profile)
  t.match(
    unstored,
    /^The samples have \d+ bytes, more than the 1000 that are stored with a profile: they were not stored\.$/,
  )
  t.ok(hot.length > 0)
  t.equal((await app.inject(`/_profiler/${profile.token}/samples`)).statusCode, 404)
  const page = await panel(app, profile)
  t.match(page, 'more than the 1000 that are stored')
  t.notMatch(page, '<svg class="icicle"')
})

t.test('samples vanish with their profile', async t => {
  const app = await workshop(t, { storeBounds: { profiles: 1 } })
  const { token } = await sampledBusy(app)
  t.equal((await app.inject(`/_profiler/${token}/samples`)).statusCode, 200)
  await profileOf(app, '/quick')
  t.equal((await app.inject(`/_profiler/${token}/samples`)).statusCode, 404)
})

t.test('sampling ends with a request that fails, streams, or whose client leaves', async t => {
  const app = await workshop(t)
  const arrived = deferred()
  app.get('/fails', async () => {
    throw new Error('it broke')
  })
  app.get('/streams', (_request, reply) => reply.send(Readable.from(['one', 'two'])))
  app.get('/page', (_request, reply) => reply.type('text/html').send('<html><body>x</body></html>'))
  app.get('/left', (_request, reply) => {
    reply.hijack()
    arrived.resolve()
  })
  const { port } = await listen(app)
  for (const url of ['/fails', '/streams', '/missing', '/%zz', '/page']) {
    const { token } = await sampled(app, url)
    samplesOf(await sampled(app, '/quick'))
    t.ok(await app.profiler.find(token), url)
  }
  await sendAndLeave(port, 'GET /left HTTP/1.1\r\nHost: localhost\r\nX-Profile: cpu\r\n\r\n', arrived.promise)
  await everythingStored(app)
  t.match(samplesOf(await onlyProfile(t, app, '/left')), { kind: 'cpu' })
  samplesOf(await sampled(app, '/quick'))
})

t.test('a page that is made while its request is sampled has its toolbar, without the panel', async t => {
  const app = await workshop(t)
  app.get('/page', (_request, reply) => reply.type('text/html').send('<html><body>x</body></html>'))
  const headers = { ...html, host: 'localhost', 'x-profile': 'cpu' }
  const answer = await app.inject({ url: '/page', headers })
  t.match(answer.body, 'data-profiler=')
  t.notMatch(answer.body, 'panel=cpu')
  samplesOf(await onlyProfile(t, app, '/page'))
})

t.test('closing the application ends the sampling of its requests', async t => {
  const directory = makeFolder()
  const app = await workshop(t, { directory })
  const arrived = deferred()
  app.get('/endless', (_request, reply) => {
    reply.hijack()
    arrived.resolve()
  })
  void app.inject({ url: '/endless', headers: { 'x-profile': 'cpu' } })
  await arrived.promise
  await app.close()
  const next = await workshop(t, { directory })
  samplesOf(await onlyProfile(t, next, '/endless'))
  samplesOf(await sampled(next, '/quick'))
})

t.test('sampling stops while a request goes on for too long, and the profile says so', async t => {
  const app = await workshop(t)
  const [stopped, over] = [deferred(), deferred()]
  app.get('/long', async request => {
    const { recorder } = request
    if (recorder === null) throw new Error('There is no recorder.')
    sampleIfAsked({ recorder, request, route: '/long', mayAsk: () => true, unended: () => [] }, 20)
    const { note } = recorder
    recorder.note = sentence => {
      note.call(recorder, sentence)
      stopped.resolve()
    }
    await over.promise
    return 'ok'
  })
  const { origin } = await listen(app)
  // From another client, so that only the handler has it sampled.
  const asked = fetch(`${origin}/long`, { headers: { 'x-profile': 'cpu', 'x-forwarded-for': '203.0.113.5' } })
  await stopped.promise
  over.resolve()
  await (await asked).text()
  const profile = await onlyProfile(t, app, '/long')
  t.same(profile.notes, ['Sampling was stopped after 0.02 s.'])
  t.ok(samplesOf(profile).duration > 0)
})

t.test('a request is answered although the inspector fails, and its panel says so', async t => {
  const app = await workshop(t)
  const { post } = Session.prototype
  type Answer = (error: Error | null, result?: object) => void
  const failures: Record<string, (method: string, parameters: object, answer: Answer) => void> = {
    'no inspector': () => {
      throw new Error('no inspector')
    },
    'The inspector does not answer.': () => {},
    refused: (_method, _parameters, answer) => answer(new Error('refused')),
    'The inspector has no samples.': (_method, _parameters, answer) => answer(null),
  }
  for (const [reason, value] of Object.entries(failures)) {
    const { restore } = t.intercept(Session.prototype, 'post', { value })
    const profile = await sampled(app, '/quick')
    restore()
    t.match(profile, { status: 200, samples: { why: `This process cannot be sampled: Error: ${reason}` } })
  }
  t.equal(Session.prototype.post, post)
  samplesOf(await sampled(app, '/quick'))
})

t.test('secrets and code in the names and URLs of functions are in no samples', async t => {
  const app = await workshop(t)
  const [secret, long] = ['hunter2_in_a_function_name', 'long'.repeat(100)]
  const source = (name: string) =>
    `function ${name}(n) { return n < 2 ? Math.cbrt(n) : ${name}(n - 1) + ${name}(n - 2) }`
  const code = `${source(secret)} ${source(long)} export const planted = [${secret}, ${long}]`
  const { planted } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  app.get('/planted', async () =>
    useCpu(() => {
      for (const count of planted) count(22)
    }),
  )
  const headers = { 'x-profile': 'cpu', authorization: `Bearer ${secret}` }
  const profile = await sampledBusy(app, { url: '/planted', headers }, 'long')
  const stored = (await app.inject(`/_profiler/${profile.token}/samples`)).body
  for (const text of [stored, JSON.stringify(profile), await panel(app, profile)]) {
    t.notMatch(text, secret)
    t.notMatch(text, 'Math.cbrt')
    t.notMatch(text, 'cbrt(n)')
    t.notMatch(text, 'long'.repeat(60))
    t.match(text, 'long'.repeat(50))
    t.match(text, '[masked]')
  }
  t.match(stored, '"url":"data:text/javascript,…"')
})
