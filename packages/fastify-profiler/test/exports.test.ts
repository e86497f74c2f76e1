import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import type { FastifyInstance, InjectOptions } from 'fastify'
import t from 'tap'
import { html } from '../index.ts'
import { harOf } from '../features/export/har.ts'
import { gallery } from './gallery.ts'
import { everythingStored, getRaw, listen, pageOf, profiledApp, profileOf, sendAndLeave } from './profiled-app.ts'
import { urlPart } from '../core/urls.ts'
import { failedProfile } from './views/example-profile.ts'
import { hostileStrings } from './views/hostile-profile.ts'

const require = createRequire(import.meta.url)
const schemas: Record<string, object> = require('har-schema')
const ajv = new Ajv({ strict: false, validateFormats: false })
ajv.addMetaSchema(require('ajv/dist/refs/json-schema-draft-06.json'))
const isHar = ajv.addSchema(Object.values(schemas)).getSchema('har.json')

const form = 'application/x-www-form-urlencoded'
const exports = ['curl', 'har', 'file']

const tokens = async (app: FastifyInstance) => {
  await everythingStored(app)
  const { profiles } = await app.profiler.search({ perPage: 200 })
  return profiles.map(({ token }) => token)
}

const exported = async (app: FastifyInstance, token: string, name: string) =>
  app.inject({ url: `/_profiler/${token}/${name}`, headers: { accept: 'text/html' } })

/** The entry of an archive. */
async function entryOf(app: FastifyInstance, token: string) {
  return JSON.parse(await pageOf(app, `${token}/har`)).log.entries[0]
}

const entryAfter = async (app: FastifyInstance, request: InjectOptions | string) =>
  entryOf(app, (await profileOf(app, request)).token)

t.test('a HAR is valid whatever a request was, and its times add up', async t => {
  const { app, arrived } = await gallery(t)
  const { port } = await listen(app)
  for (const [index, hostile] of hostileStrings.entries()) {
    await app.inject(`/echo?${urlPart(hostile)}=${index}`)
    await app.inject({ method: 'POST', url: '/echo', payload: { [hostile]: [hostile, { hostile }] } })
    const text = Buffer.from(hostile)
      .toString('latin1')
      .replace(/[^\t -~\x80-\xff]/g, '')
      .slice(0, 2000)
    await getRaw(port, `/${text.replace(/\s/g, '')}`, `Host: ${index}\r\nX-Text: ${text}`)
  }
  const post = (type: string, payload: string | Buffer) =>
    app.inject({ method: 'POST', url: '/echo', headers: { 'content-type': type }, payload })
  await post(form, 'title=Mona+Lisa&room=6')
  await post('application/octet-stream', Buffer.from([0, 1, 2]))
  await post('multipart/form-data; boundary=x', 'x')
  await post('text/plain', 'plain')
  await post('application/json', '{')
  for (const path of ['nowhere', 'cookie', 'moved', 'same', 'fails', 'hijacked', 'streamed']) {
    await app.inject(`/${path}`)
  }
  await app.inject({ method: 'HEAD', url: '/echo' })
  await app.inject({ method: 'DELETE', url: '/moved' })
  await getRaw(port, '/%zz', 'Host: a b')
  await getRaw(port, 'http://other.test/echo?a#b', 'Host: other.test')
  await getRaw(port, '/broken')
  await sendAndLeave(port, 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n', arrived)
  const all = await tokens(app)
  t.ok(all.length >= 100, `${all.length} profiles`)
  for (const token of all) {
    const har = (await exported(app, token, 'har')).json()
    t.ok(isHar?.(har), JSON.stringify(isHar?.errors))
    const [{ request, time, timings }] = har.log.entries
    t.ok(Math.abs(timings.send + timings.wait + timings.receive - time) < 0.001, request.url)
    t.ok(Math.min(timings.send, timings.wait, timings.receive) >= 0)
    t.match(new URL(request.url).href, /^http:\/\//)
    t.match(request.url, /^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/)
  }
})

t.test('a HAR says what is not known', async t => {
  const { request, response } = failedProfile()
  const unknown = failedProfile({
    host: null,
    status: 799,
    request: { ...request, headers: [], bodySize: null },
    response: { ...response, headers: [], bodySize: null, contentType: null },
  })
  t.match(
    harOf(failedProfile({ status: null, outcome: 'aborted', host: 'a b', request: { ...request, headers: [] } })).log
      .entries[0],
    {
      request: { url: 'http://host.invalid/museums/7' },
      response: { status: 0, statusText: '' },
      comment: /Client went away$/,
    },
  )
  t.match(harOf(unknown).log.entries[0], {
    request: { url: 'http://localhost/museums/7', bodySize: 0 },
    response: { statusText: '', content: { size: -1, mimeType: 'x-unknown' }, redirectURL: '', bodySize: -1 },
  })
})

t.test('a HAR has what a client would have recorded', async t => {
  const { app } = await gallery(t)
  const headers = { host: 'museum.test:8080', 'content-type': form, cookie: 'theme=dark' }
  const url = '/echo?tag=a&tag=b&x=[1]'
  const { token } = await profileOf(app, { method: 'POST', url, headers, payload: 'title=Mona+Lisa&room=6' })
  t.match(await entryOf(app, token), {
    startedDateTime: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
    request: {
      method: 'POST',
      url: 'http://museum.test:8080/echo?tag=a&tag=b&x=%5B1%5D',
      httpVersion: 'HTTP/1.1',
      cookies: [{ name: 'theme', value: '[masked]' }],
      queryString: [
        { name: 'tag', value: 'a' },
        { name: 'tag', value: 'b' },
        { name: 'x', value: '[1]' },
      ],
      postData: {
        mimeType: form,
        params: [
          { name: 'title', value: 'Mona Lisa' },
          { name: 'room', value: '6' },
        ],
      },
      headersSize: -1,
      bodySize: 22,
    },
    response: {
      status: 200,
      statusText: 'OK',
      content: { size: 2, mimeType: 'text/plain; charset=utf-8' },
      redirectURL: '',
      bodySize: 2,
    },
    cache: {},
    comment: `Profile ${token}`,
  })
})

t.test('a HAR has redirects, cookies, the parts of a multipart form, and text', async t => {
  const { app } = await gallery(t)
  t.match(await entryAfter(app, '/moved'), {
    response: { status: 302, redirectURL: '/echo', content: { mimeType: 'x-unknown' } },
  })
  t.match((await entryAfter(app, '/cookie')).response.cookies, [
    { name: 'theme', value: '[masked]', httpOnly: true, secure: true },
    { name: '[masked]', value: '', httpOnly: false, secure: false },
  ])
  const post = (type: string, payload: string | Buffer) =>
    entryAfter(app, { method: 'POST', url: '/echo', headers: { 'content-type': type }, payload })
  t.match((await post('multipart/form-data; boundary=x', 'x')).request.postData.params, [
    { name: 'title', value: /La Joconde/ },
    { name: 'picture', value: /"filename":"lisa.png"/ },
    { name: 'picture', value: 'odd' },
    { name: 'note', value: '{"odd":true}' },
  ])
  t.equal((await post('application/json', '{"a":[1]}')).request.postData.text, '{"a":[1]}')
  const binary = await post('application/octet-stream', Buffer.from([0, 1, 2]))
  t.notOk('postData' in binary.request, 'a binary body is not recorded')
  t.equal(binary.request.bodySize, 3)
})

t.test('the cURL command is text without control characters', async t => {
  const { app } = await gallery(t)
  const headers = { 'content-type': 'text/plain' }
  const { token } = await profileOf(app, { method: 'POST', url: '/echo', headers, payload: 'a\x1b[31mred\0' })
  const answer = await exported(app, token, 'curl')
  t.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
  t.match(answer.body, "--data-raw 'a␛[31mred␀'\n")
})

t.test('the file has every panel, and needs neither a server nor a script, as its policy says', async t => {
  const own = {
    name: 'own',
    label: 'Own',
    collect: () => 1,
    view: () => [
      {
        markdown: '',
        html: html`<p id="own"><a class="x" href="/admin">Admin</a> <a href="#own">Here</a></p><form action="/x"><button>Go</button></form>`,
      },
    ],
  }
  const app = await profiledApp(t, { editorUrl: 'vscode://file/{file}:{line}', panels: [own] })
  app.get('/fails', async () => {
    throw new Error('it broke')
  })
  const { token } = await profileOf(app, '/fails')
  const { body, headers } = await exported(app, token, 'file')
  t.match(headers, {
    'content-disposition': `attachment; filename="profile-${token}.html"`,
    'content-type': 'text/html; charset=utf-8',
  })
  const recorded = ['request', 'performance', 'exception', 'logs', 'routing', 'lifecycle', 'configuration', 'own']
  for (const panel of recorded) {
    t.match(body, `<section class="panel" id="panel-${panel}"`)
    t.match(body, `href="#panel-${panel}"`)
  }
  t.match(body, '<p class="muted">Nothing was recorded for: CPU, Database, HTTP client.</p>')
  t.match(body, /<mark [^>]*>.*it broke/s, 'with the source')
  t.match(body, '<span>Admin</span> <a href="#own">Here</a>')
  const links = [...body.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map(([, url = '']) => url)
  const found = links.filter(url => !url.startsWith('#'))
  t.same(found, ['data:,'])
  t.notMatch(body, /<(?:form|button|script|link rel="stylesheet")/)
  t.notMatch(body, ' ago<')
  const style = /<style>(.*?)<\/style>/s.exec(body)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  t.match(
    body,
    `<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; img-src data:; base-uri &#39;none&#39;; form-action &#39;none&#39;; style-src &#39;sha256-${hash}&#39;">`,
  )
})

t.test('an export of a running request is a 404, and exports are only read', async t => {
  const { app, arrived } = await gallery(t)
  void app.inject('/slow').catch(() => {})
  await arrived
  for (const name of exports) {
    t.equal((await exported(app, 'latest', name)).statusCode, 404, 'nothing is stored yet')
    const post = await app.inject({ method: 'POST', url: `/_profiler/gone/${name}` })
    t.match(post, { statusCode: 405, headers: { allow: 'GET' } })
  }
})

t.test('exports answer HEAD, and "latest" is a token', async t => {
  const { app } = await gallery(t)
  const { token } = await profileOf(app, '/echo')
  t.match(await app.inject({ method: 'HEAD', url: '/_profiler/latest/har' }), {
    statusCode: 200,
    body: '',
    headers: { 'content-disposition': `attachment; filename="profile-${token}.har"` },
  })
})
