import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import formbody from 'node:querystring'
import t from 'tap'
import { html } from '../index.ts'
import { makeFolder } from './folder.ts'
import { onlyProfile, profiledApp } from './profiled-app.ts'

// Each is planted in one place and must not appear in anything that the profiler shows or stores.
const secrets = {
  authorization: 'plantedauthorization01',
  basic: 'plantedbasicpassword02',
  apiKey: 'plantedapikey03',
  cookie: 'plantedcookie04',
  encodedCookie: 'planted cookie/05',
  setCookie: 'plantedsetcookie06',
  query: 'plantedquery07',
  referer: 'plantedreferer08',
  json: 'plantedjson09',
  nested: 'plantednested10',
  form: 'plantedform11',
  parameter: 'plantedparameter12',
  sql: 'plantedsql13',
  logField: 'plantedlogfield14',
  logMessage: 'plantedlogmessage15',
  errorProperty: 'plantederrorproperty16',
  errorMessage: 'plantederrormessage17',
  cause: 'plantedcause18',
  environment: 'plantedenvironment19',
  urlPassword: 'plantedurlpassword20',
  webToken: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGFudGVkMjEifQ.c2lnbmF0dXJlMjE',
  panel: 'plantedpanel22',
  database: 'planteddatabase23',
  quoted: 'plantedquoted24',
  bare: 'plantedbare25',
  broken: '%zzplantedbroken26',
}

t.test('no planted secret appears in any page, format or file', async t => {
  process.env.PLANTED_SECRET_KEY = secrets.environment
  process.env.PLANTED_DATABASE_URL = `postgres://user:${secrets.database}@localhost/db`
  t.teardown(() => {
    delete process.env.PLANTED_SECRET_KEY
    delete process.env.PLANTED_DATABASE_URL
  })
  const directory = makeFolder(t)
  const app = await profiledApp(t, {
    directory,
    panels: [
      {
        name: 'extra',
        label: 'Extra',
        collect: () => ({ apiToken: secrets.panel, shown: 'visible' }),
        body: data => html`<p>${JSON.stringify(data)}</p>`,
      },
    ],
  })
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, { ...formbody.parse(String(body)) })
  })
  app.post<{ Body: { password: string } }>('/reset/:token', async function failing(request, reply) {
    const { password } = request.body
    reply.header('set-cookie', `session=${secrets.setCookie}; Path=/; HttpOnly`)
    request.log.info(
      { user: 'visible', password: secrets.logField, headers: request.headers },
      `signed in with password=${secrets.logMessage}`,
    )
    request.recorder?.record(
      { kind: 'query', name: 'insert', detail: `insert into users values ('${password}') -- secret: ${secrets.sql}` },
      1,
    )
    const cause = new Error(
      `connect postgres://portico:${secrets.urlPassword}@localhost/db with token=${secrets.cause}`,
    )
    throw Object.assign(
      new Error(
        `cannot use ${password}, ${secrets.environment}, ${secrets.webToken} nor {"secret":"${secrets.errorMessage}","name":"visible"} at ${secrets.database}`,
        { cause },
      ),
      {
        clientSecret: secrets.errorProperty,
      },
    )
  })
  const headers = {
    authorization: `Bearer ${secrets.authorization}`,
    'proxy-authorization': `Basic ${Buffer.from(`user:${secrets.basic}`).toString('base64')}`,
    'x-api-key': secrets.apiKey,
    cookie: `theme=${secrets.cookie}; quoted="${secrets.quoted}"; ${secrets.bare}; broken=${secrets.broken}; other=${encodeURIComponent(secrets.encodedCookie)}`,
    referer: `https://example.org/?access_token=${secrets.referer}&next=visible`,
  }
  const url = `/reset/${secrets.parameter}?api_key=${secrets.query}&page=visible`
  const pages: string[] = []
  for (const accept of ['text/html', 'application/json', 'text/markdown']) {
    for (const request of [
      {
        'content-type': 'application/json',
        payload: JSON.stringify({ password: secrets.json, deep: { credentials: { name: secrets.nested } } }),
      },
      {
        'content-type': 'application/x-www-form-urlencoded',
        payload: formbody.stringify({ password: secrets.form, name: 'visible' }),
      },
    ]) {
      const { payload, ...type } = request
      const response = await app.inject({ method: 'POST', url, headers: { ...headers, ...type, accept }, payload })
      t.equal(response.statusCode, 500)
      // The application's own JSON is not the profiler's concern.
      if (accept !== 'application/json') pages.push(response.body)
      const { profiles } = await app.profiler.search({ perPage: 1 })
      const base = `/_profiler/${profiles[0]?.token}`
      const exports = ['exception', 'curl', 'har', 'file']
      const panels = ['request', 'performance', 'exception', 'logs', 'lifecycle', 'routing', 'extra', 'configuration']
      for (const page of [
        base,
        ...exports.map(name => `${base}/${name}`),
        '/_profiler/',
        ...panels.map(panel => `${base}?panel=${panel}`),
      ]) {
        const answer = await app.inject({ url: page, headers: { accept } })
        t.equal(answer.statusCode, 200, page)
        pages.push(answer.body)
      }
    }
  }
  const files = readdirSync(directory).map(name => readFileSync(join(directory, name), 'utf8'))
  for (const [where, secret] of Object.entries(secrets)) {
    for (const form of [
      secret,
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    ]) {
      t.notOk(
        pages.some(page => page.includes(form)),
        `${where} is on no page`,
      )
      t.notOk(
        files.some(file => file.includes(form)),
        `${where} is in no file`,
      )
    }
  }
  t.ok(
    pages.some(page => page.includes('visible')),
    'what is not a secret is shown',
  )
})

t.test('a password that is a common word is masked in its field and nowhere else', async t => {
  const app = await profiledApp(t)
  app.post('/', async () => 'ok')
  const { headers } = await app.inject({
    method: 'POST',
    url: '/',
    payload: { password: 'request', pin: 1234, secrets: [1, null, true], note: 'a request' },
  })
  const profile = await app.profiler.find(String(headers['x-debug-token']))
  t.same(profile?.request.body, {
    password: '[masked]',
    pin: '[masked]',
    secrets: ['[masked]', null, '[masked]'],
    note: 'a request',
  })
})

t.test('the entries of a map beyond the bound of values are left out', async t => {
  const app = await profiledApp(t, { profileBounds: { values: 2 } })
  app.addContentTypeParser('text/odd', (_request, _payload, done) => {
    done(null, new Map(['one', 'two', 'three'].map(name => [name, name])))
  })
  app.post('/', async () => 'ok')
  const { headers } = await app.inject({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'text/odd' },
    payload: 'x',
  })
  const profile = await app.profiler.find(String(headers['x-debug-token']))
  t.strictSame(profile?.request.body, { one: 'one', two: 'two' })
})

t.test('values of any kind become plain data within bounds', async t => {
  const app = await profiledApp(t, { profileBounds: { values: 30, depth: 3, text: 100 } })
  class Odd {
    get failing() {
      throw new Error('getter')
    }
  }
  app.addContentTypeParser('text/odd', (_request, _payload, done) => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const failing = Object.defineProperty({}, 'failing', { enumerable: true, get: () => new Odd().failing })
    done(null, {
      cycle,
      failing,
      date: new Date(0),
      noDate: new Date(NaN),
      error: new Error('inside'),
      map: new Map([['key1', 1]]),
      set: new Set([1n]),
      bytes: Buffer.alloc(3),
      buffer: new ArrayBuffer(2),
      fn: function named() {},
      symbol: Symbol('s'),
      infinite: Infinity,
      nothing: undefined,
      deep: { deeper: { list: [1], object: {} } },
      polluting: JSON.parse('{"__proto__":{"own":1}}'),
      long: 'x'.repeat(500),
    })
  })
  app.post('/', async () => 'ok')
  app.post('/long', async () => 'ok')
  const { headers } = await app.inject({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'text/odd' },
    payload: 'x',
  })
  const profile = await app.profiler.find(String(headers['x-debug-token']))
  t.match(profile?.request.body, {
    cycle: { self: '[circular]' },
    failing: { failing: '[getter threw]' },
    date: '1970-01-01T00:00:00.000Z',
    noDate: 'Invalid Date',
    error: 'Error: inside',
    map: { key1: 1 },
    set: ['1'],
    bytes: '[3 bytes]',
    buffer: '[2 bytes]',
    fn: '[function named]',
    symbol: 'Symbol(s)',
    infinite: 'Infinity',
    deep: { deeper: { list: '[array]', object: '[object]' } },
    polluting: { '[__proto__]': { own: 1 } },
  })
  t.match(profile?.dropped, [{ what: 'values' }])
  await app.inject({
    method: 'POST',
    url: '/long',
    payload: {
      list: Array(100).fill(1),
      ...Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, 1])),
    },
  })
  const {
    request: { body },
    dropped,
  } = await onlyProfile(t, app, '/long')
  t.same(body, { list: Array(29).fill(1) })
  t.match(dropped, [{ what: 'values' }])
})

t.test('credentials without a scheme and secrets that cannot be encoded are masked whole', async t => {
  const app = await profiledApp(t)
  app.post('/', async request => {
    request.log.info('saw \ud800plantedlone and ab')
    return 'ok'
  })
  const payload = {
    password: '\ud800plantedlone',
    token: 'ab',
    tokens: Array.from({ length: 600 }, (_, index) => `planted${index}`),
  }
  const { headers } = await app.inject({
    method: 'POST',
    url: '/',
    headers: { authorization: 'plantedwhole' },
    payload,
  })
  const profile = await app.profiler.find(String(headers['x-debug-token']))
  t.same(
    profile?.request.headers.find(([name]) => name === 'authorization'),
    ['authorization', '[masked]'],
  )
  t.ok(profile?.logs.some(({ message }) => message === 'saw [masked] and ab'))
  t.notMatch(JSON.stringify(profile), 'planted')
})

t.test('secrets in a request and its response are masked, behind a proxy too', async t => {
  const app = await profiledApp(t, {}, { trustProxy: true })
  app.post('/', async (_request, reply) => reply.header('content-type', 'text/plain; token=plantedanswer').send('ok'))
  const headers = {
    'content-type': 'application/json; token=plantedtype',
    'x-forwarded-for': 'plantedaddress5',
    'x-forwarded-proto': 'javascript:alert(1)//',
  }
  const { headers: answered } = await app.inject({
    method: 'POST',
    url: '/?password=plantedaddress5',
    headers,
    payload: '{}',
  })
  const profile = await onlyProfile(t, app, '/')
  t.notMatch(JSON.stringify(profile), 'planted')
  t.same(
    [profile.request.contentType, profile.response.contentType],
    ['application/json; token=[masked]', 'text/plain; token=[masked]'],
  )
  t.same([profile.ip, profile.protocol], ['[masked]', 'http'])
  t.match(answered['x-debug-token-link'], /^http:\/\/localhost/)
  await app.inject({
    method: 'POST',
    url: '/secure',
    headers: { 'x-forwarded-for': '203.0.113.1', 'x-forwarded-proto': 'https' },
    payload: {},
  })
  const { ip, protocol } = await onlyProfile(t, app, '/secure')
  t.same([ip, protocol], ['203.0.113.1', 'https'])
})

t.test('secrets in the names of spans and functions are masked', async t => {
  const app = await profiledApp(t)
  app.get('/', async function handler({ recorder }) {
    recorder?.record({ kind: 'query', name: 'token=plantedspan' }, 1)
    recorder?.record({ kind: 'cache', name: 'license' }, 1)
    const named = {
      'token=plantedfunction'() {
        throw new Error('failed')
      },
    }
    named['token=plantedfunction']()
  })
  await app.inject('/')
  const { spans, exceptions } = await onlyProfile(t, app, '/')
  t.notMatch(JSON.stringify([spans, exceptions]), 'planted')
  const names = spans.map(({ name }) => name)
  for (const name of ['GET /', 'token=[masked]', 'license']) t.ok(names.includes(name), name)
})

t.test('a value named by another field or item is masked, and the name is shown', async t => {
  const app = await profiledApp(t)
  app.post('/', async request => {
    request.log.info({ header: { name: 'Authorization', value: 'plantedfield1' } }, 'seen plantedvalue1')
    throw Object.assign(new Error('failed'), { sent: ['X-Api-Key', 'plantedraw2', 'Host', 'localhost'] })
  })
  const readable = {
    choices: [
      { name: 'color', value: 'crimson' },
      { key: 'size', value: 42 },
      { name: 7, value: 'seven' },
      { name: 'alone' },
    ],
    many: { name: 'token', value: 'readable1', a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7 },
    lists: [
      ['password', 'description'],
      ['token', 'sessions'],
      ['password', 'must be 8 letters'],
      ['title', 'readable2'],
      ['token', 12345678],
      ['a', 'password', 'readable3'],
    ],
  }
  const payload = {
    ...readable,
    fields: [
      { name: 'password', value: 'plantedvalue1' },
      { key: 'api_key', value: 'plantedvalue2' },
      { Key: 'Token', Value: 'plantedvalue3' },
    ],
    unlike: { key: 'planted1value4', value: 1 },
    headers: [
      ['Authorization', 'Basic planted5'],
      ['Accept', 'text/html'],
    ],
    token: { name: 'plantedvalue6', value: 'plantedvalue7' },
  }
  await app.inject({ method: 'POST', url: '/', payload })
  const profile = await onlyProfile(t, app, '/')
  t.notMatch(JSON.stringify(profile), 'planted')
  t.match(profile.request.body, {
    ...readable,
    fields: [
      { name: 'password', value: '[masked]' },
      { key: 'api_key', value: '[masked]' },
      { Key: 'Token', Value: '[masked]' },
    ],
    unlike: { key: '[masked]', value: 1 },
    headers: [
      ['Authorization', '[masked]'],
      ['Accept', 'text/html'],
    ],
  })
  t.match(profile.logs[1], {
    message: 'seen [masked]',
    fields: { header: { name: 'Authorization', value: '[masked]' } },
  })
  t.same(profile.exceptions[0]?.properties.sent, ['X-Api-Key', '[masked]', 'Host', 'localhost'])
})

t.test('authorization codes in bodies are masked, and other codes are not', async t => {
  const app = await profiledApp(t)
  app.post('/*', async request => {
    request.log.info(`got ${JSON.stringify(request.body)}`)
    return 'ok'
  })
  const bodies: Record<string, object> = {
    granted: { grant_type: 'authorization_code', code: '4/0planted_1xYzAbC' },
    redirected: { redirectUri: 'http://localhost/', code: '4/0planted_2xYzAbC' },
    refused: { redirect_uri: 'http://localhost/', code: 'ECONNREFUSED' },
    numbered: { grant_type: 'other', code: 12345678 },
    plain: { code: 'readable-1' },
    uncertain: { code: 'a1b2c3d4e5f6a7b8c9d0' },
  }
  for (const [name, payload] of Object.entries(bodies)) {
    await app.inject({ method: 'POST', url: `/${name}`, payload })
    const profile = await onlyProfile(t, app, `/${name}`)
    t.notMatch(JSON.stringify(profile), 'planted')
    t.same(
      profile.request.body,
      name === 'granted' || name === 'redirected' ? { ...payload, code: '[masked]' } : payload,
    )
  }
})

t.test('secrets inside cookies and credentials are masked wherever they appear', async t => {
  const app = await profiledApp(t)
  app.post('/*', async request => {
    request.log.info(`saw ${JSON.stringify(request.body)}`)
    return 'ok'
  })
  const signature = 'sigNature0sigNature0sigNature0sig'
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const json = JSON.stringify({
    token: 'planted-json-1x',
    list: ['plantedLong1', 'planted-long-2x-planted', 'visible-words-that-are-long'],
    id: 7,
    page: 'visible1',
  })
  const carriers: Record<string, [name: string, value: string, inside: string[]]> = {
    express: ['cookie', `sid=${encodeURIComponent('s:plantedid1.short')}`, ['plantedid1']],
    signed: ['cookie', `a=plantedid2.${signature}`, ['plantedid2']],
    json: [
      'cookie',
      `a=${encodeURIComponent(`j:${json}`)}`,
      ['planted-json-1x', 'plantedLong1', 'planted-long-2x-planted'],
    ],
    encoded: ['cookie', `a=${base64(json)}`, ['planted-json-1x', 'plantedLong1']],
    text: ['cookie', `a=${base64('plantedText1')}`, ['plantedText1']],
    token: ['authorization', 'Token token="planted-token-1x", nonce="visible"', ['planted-token-1x']],
    digest: ['authorization', 'Digest username="visible", response="planted-digest-1x"', ['planted-digest-1x']],
    signature: [
      'authorization',
      'AWS4-HMAC-SHA256 SignedHeaders=visible, Signature=planted-signature-1x',
      ['planted-signature-1x'],
    ],
  }
  for (const [path, [name, value, inside]] of Object.entries(carriers)) {
    await app.inject({
      method: 'POST',
      url: `/${path}`,
      headers: { [name]: value },
      payload: [...inside, 'visible', 'visible1', 'visible-words-that-are-long'],
    })
    const profile = await onlyProfile(t, app, `/${path}`)
    t.notMatch(JSON.stringify(profile), 'planted', path)
    t.same(
      profile.request.body,
      [...inside.map(() => '[masked]'), 'visible', 'visible1', 'visible-words-that-are-long'],
      path,
    )
  }
  const odd = [
    'visible.short',
    '{visible',
    `a.${signature}`,
    base64('visible of many words'),
    base64('{visible of words'),
  ]
  await app.inject({
    method: 'POST',
    url: '/odd',
    headers: { cookie: odd.map(value => `a=${value}`).join('; ') },
    payload: ['visible', 'of many words'],
  })
  t.same((await onlyProfile(t, app, '/odd')).request.body, ['visible', 'of many words'])
})

t.test('passwords in URLs of the environment are masked, however unusual, both as written and decoded', async t => {
  const variables = {
    PLANTED_AT_URL: 'postgres://user:ab@planted1@localhost/db',
    PLANTED_SLASH_URL: 'postgres://user:ab/planted2@localhost/db',
    PLANTED_ENCODED_URL: 'postgres://user:planted%203x@localhost/db',
    PLANTED_BROKEN_URL: 'postgres://user:planted%zz4@localhost/db',
    PLANTED_TOKEN_URL: 'https://plantedtokenplantedtoken5@localhost/db',
  }
  Object.assign(process.env, variables)
  t.teardown(() => {
    for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name)
  })
  const app = await profiledApp(t)
  const words = [
    'ab@planted1',
    'ab/planted2',
    'planted 3x',
    'planted%203x',
    'planted%zz4',
    'plantedtokenplantedtoken5',
    'visible',
  ]
  app.get('/', async ({ log }) => {
    for (const word of words) log.info(`saw ${word}.`)
    return 'ok'
  })
  await app.inject('/')
  const { logs } = await onlyProfile(t, app, '/')
  t.same(
    logs.slice(1, -1).map(({ message }) => message),
    [...words.slice(0, -1).map(() => 'saw [masked].'), 'saw visible.'],
  )
})

t.test('a numbered key is masked if it looks like one', async t => {
  const app = await profiledApp(t)
  app.post('/', async () => 'ok')
  await app.inject({
    method: 'POST',
    url: '/?key3=planted123456',
    payload: { key1: 'planted123457', key2: 'visible', key3: 5 },
  })
  const profile = await onlyProfile(t, app, '/')
  t.equal(profile.url, '/?key3=[masked]')
  t.same(profile.request.body, { key1: '[masked]', key2: 'visible', key3: 5 })
})

t.test('names beyond the cache limit are still classified', async t => {
  const app = await profiledApp(t)
  app.post('/', async () => 'ok')
  const payload = {
    ...Object.fromEntries(Array.from({ length: 1100 }, (_, index) => [`name${index}`, index])),
    password: 'planted',
  }
  await app.inject({ method: 'POST', url: '/', payload })
  t.notMatch(JSON.stringify(await onlyProfile(t, app, '/')), 'planted')
})
