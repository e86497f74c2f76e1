import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import formbody from 'node:querystring'
import type { FastifyInstance, InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { makeFolder } from './folder.ts'
import { onlyProfile, pageOf, profiledApp, profileOf } from './profiled-app.ts'

const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = lower.toUpperCase()
const alphabets = {
  hex: '0123456789abcdef',
  base32: `${upper}234567`,
  alphanumeric: `${lower}${upper}0123456789`,
  url: `${lower}${upper}0123456789_-`,
  base64: `${lower}${upper}0123456789+/`,
}

let state = 17
/** Pseudo-random characters, the same in each run: real secrets would alarm secret scanners. */
function some(length: number, alphabet: keyof typeof alphabets = 'alphanumeric'): string {
  const letters = alphabets[alphabet]
  let text = ''
  while (text.length < length) {
    state = (state * 1103515245 + 12345) % 2147483648
    text += letters.charAt(Math.floor(state / 65536) % letters.length)
  }
  return text
}

/** A secret and a text that contains it. */
type Planted = readonly [secret: string, text: string]
const bare = (secret: string): Planted => [secret, secret]
const said = (secret: string, say: (secret: string) => string): Planted => [secret, say(secret)]

const secrets: Record<string, Planted> = {
  'AWS access key': bare(`AKIA${some(16, 'base32')}`),
  'AWS session key': bare(`ASIA${some(16, 'base32')}`),
  'GitHub token': bare(`ghp_${some(36)}`),
  'GitHub app token': bare(`ghs_${some(36)}`),
  'GitHub fine-grained token': bare(`github_pat_${some(22)}_${some(59)}`),
  'GitLab token': bare(`glpat-${some(20, 'url')}`),
  'GitLab runner token': bare(`glrt-${some(20, 'url')}`),
  'Slack bot token': bare(`xoxb-${some(12, 'hex')}-${some(12, 'hex')}-${some(24)}`),
  'Slack user token': bare(`xoxp-${some(12, 'hex')}-${some(32, 'hex')}`),
  'Slack app token': bare(`xapp-1-A${some(10, 'base32')}-${some(64, 'hex')}`),
  'Slack webhook': said(
    `T${some(8, 'base32')}/B${some(8, 'base32')}/${some(24)}`,
    path => `https://hooks.slack.com/services/${path}`,
  ),
  'Discord webhook': said(some(68, 'url'), token => `https://discord.com/api/webhooks/123456789012345678/${token}`),
  'Telegram bot token': said(`AA${some(33, 'url')}`, token => `bot 123456789:${token}`),
  'Stripe live key': bare(`sk_live_${some(24)}`),
  'Stripe test key': bare(`sk_test_${some(99)}`),
  'Stripe webhook secret': bare(`whsec_${some(32)}`),
  'OpenAI project key': bare(`sk-proj-${some(74, 'url')}T3BlbkFJ${some(74, 'url')}`),
  'OpenAI legacy key': bare(`sk-${some(20)}T3BlbkFJ${some(20)}`),
  'Anthropic key': bare(`sk-ant-api03-${some(93, 'url')}AA`),
  'Google API key': bare(`AIza${some(35, 'url')}`),
  'Google OAuth token': bare(`ya29.${some(60, 'url')}`),
  'Google client secret': bare(`GOCSPX-${some(28, 'url')}`),
  'npm token': bare(`npm_${some(36)}`),
  'PyPI token': bare(`pypi-AgEIcHlwaS5vcmc${some(80, 'url')}`),
  'RubyGems key': bare(`rubygems_${some(48, 'hex')}`),
  'SendGrid key': bare(`SG.${some(22, 'url')}.${some(43, 'url')}`),
  'Mailgun key': bare(`key-${some(32, 'hex')}`),
  'Mailchimp key': bare(`${some(32, 'hex')}-us12`),
  'Twilio key': bare(`SK${some(32, 'hex')}`),
  'Shopify token': bare(`shpat_${some(32, 'hex')}`),
  'Square token': bare(`sq0atp-${some(22, 'url')}`),
  'DigitalOcean token': bare(`dop_v1_${some(64, 'hex')}`),
  'Docker token': bare(`dckr_pat_${some(27, 'url')}`),
  'Hugging Face token': bare(`hf_${some(34)}`),
  'Vault token': bare(`hvs.${some(90, 'url')}`),
  'Terraform token': bare(`${some(14)}.atlasv1.${some(67, 'url')}`),
  'Databricks token': bare(`dapi${some(32, 'hex')}`),
  'Linear key': bare(`lin_api_${some(40)}`),
  'Notion token': bare(`ntn_12345678901${some(35)}`),
  'Atlassian token': bare(`ATATT3xFfGF0${some(180, 'url')}=ABCD1234`),
  'Postman key': bare(`PMAK-${some(24, 'hex')}-${some(34, 'hex')}`),
  'Grafana token': bare(`glsa_${some(32)}_${some(8, 'hex')}`),
  'Sentry token': bare(`sntryu_${some(64, 'hex')}`),
  'Doppler token': bare(`dp.pt.${some(43)}`),
  'Airtable token': bare(`pat${some(14)}.${some(64, 'hex')}`),
  'Azure client secret': bare(`${some(3)}8Q~${some(34, 'url')}`),
  'Supabase key': bare(`sbp_${some(40, 'hex')}`),
  'JSON web token': bare(`eyJhbGciOiJIUzI1NiJ9.eyJ${some(40, 'url')}.${some(43, 'url')}`),
  'private key': said(some(64, 'base64'), key => `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----`),
  'bcrypt hash': bare(`$2b$12$${some(53)}`),
  'argon2 hash': bare(`$argon2id$v=19$m=65536,t=3,p=4$${some(22, 'base64')}$${some(43, 'base64')}`),
  'bearer credentials': said(some(32), token => `curl failed: Authorization: Bearer ${token}`),
  'basic credentials': said(some(24, 'base64'), credentials => `sent Basic ${credentials} to the proxy`),
  'credentials for curl': said(some(12), password => `ran curl -s -u bob:${password} https://museum.example`),
  'password in a URL': said(some(12), password => `cannot connect to postgres://portico:${password}@localhost/db`),
  'authentication-info': said(some(32, 'hex'), response => `authentication-info: qop=auth, rspauth="${response}"`),
  'API key in a query': said(some(20), key => `GET /feed?api_key=${key}&page=2`),
  'password in JSON': said(some(12), password => `{"user":"bob","password":"${password}"}`),
  'token in JSON in JSON': said(some(20), token => JSON.stringify({ body: JSON.stringify({ access_token: token }) })),
  'option of a command': said(some(16), token => `deploy --auth-token ${token} --verbose`),
}

const harmless: Record<string, string> = {
  UUID: '9f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f506',
  'git hash': 'e83c5163316f89bfbde7d9ab23ca2e25604af290',
  'SHA-256 digest': 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'integrity of a script': 'sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8KuxHSdkKfi7sM',
  'beginning of a PNG': 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ',
  'CSS class': 'sk-circle-fade-dot',
  'CSS class of a project': 'sk-proj-card-two-column-layout-wide',
  'CSS class with a number': 'sk-ant-farm-grid-2-columns-narrow',
  SKU: 'SK-1234-XL-RED',
  'SKU with a point': 'SG.2024.POSTER.A2',
  'word with sk-': 'sk-learn',
  'npm variable': 'npm_package_dependencies_fastify',
  'asset name': '/assets/app.4f9a1c77e3b24c0d.js',
  'word of a cookie': 'session_id',
  'asset with base64': '/_next/static/chunks/main-DkX2mP9q.js',
  'name of a header': 'x-csrf-token',
  'name of a variable': 'AWS_ACCESS_KEY_ID',
  'name of a prefix': 'the ghp_ prefix',
  'GitHub word': 'github_pattern_matching_in_ruby_three',
  'GitLab word': 'glpat-less',
  'Slack word': 'xoxb-',
  'Slack address': 'https://hooks.slack.com/',
  'Stripe publishable word': 'sk_live_mode',
  'e-mail address': 'bob.smith@museum.example',
  'address of a package': 'pkg:npm/%40fastify/cookie@11.0.2',
  'sentence on a password': 'Basic understanding of the password policy',
  'sentence on a bearer': 'Bearer authentication is required here',
  'sentence on curl': 'curl and wget are not installed',
  'SQL with a column': 'select "password_hash" from "users" where "id" = $1',
  'line of a file': 'at handler (/app/routes/session.ts:12:34)',
  'AKIA in a word': 'AKIAKUSHA',
  'version of a hash': '$2b$',
  ULID: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
}

const panels = ['request', 'performance', 'exception', 'logs', 'lifecycle', 'routing', 'configuration']
const formats = ['text/html', 'application/json', 'text/markdown']
const exported = ['curl', 'har', 'file']

/** Everything that is readable about a request, by where that is: its pages in all formats, its exports and lists. */
async function readable(app: FastifyInstance, token: string, others: string[] = []): Promise<Map<string, string>> {
  const paths = [...panels, ...others].map(panel => `${token}?panel=${panel}`)
  const read = new Map<string, string>()
  for (const path of [...paths, token, `${token}/exception`, '']) {
    for (const format of formats) read.set(`${path} as ${format}`, await pageOf(app, path, format))
  }
  for (const name of exported) {
    const { body, statusCode } = await app.inject(`/_profiler/${token}/${name}`)
    assert.equal(statusCode, 200, name)
    read.set(name, body)
  }
  read.set('find', JSON.stringify(await app.profiler.find(token)))
  return read
}

function stored(directory: string): [where: string, text: string][] {
  return readdirSync(directory).map(name => [name, readFileSync(join(directory, name), 'utf8')])
}

/** A text as it is, and as JSON, URLs and Basic credentials encode it. */
const spellings = (text: string) => [
  text,
  JSON.stringify(text).slice(1, -1),
  encodeURIComponent(text),
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
]

/** Where a secret can be read, in any spelling. */
function leaksOf(secret: string, read: Iterable<[where: string, text: string]>): string[] {
  return [...read]
    .filter(([, text]) => spellings(secret).some(spelling => text.includes(spelling)))
    .map(([where]) => where)
}

// Each is planted in one place under a sensitive name.
const planted = {
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

t.test('no secret under a sensitive name is on a page, in an export or on the disk, wherever it is sent', async t => {
  setEnvironment(t, {
    PLANTED_SECRET_KEY: planted.environment,
    PLANTED_DATABASE_URL: `postgres://user:${planted.database}@localhost/db`,
  })
  const directory = makeFolder()
  const extra = {
    name: 'extra',
    label: 'Extra',
    collect: () => ({ apiToken: planted.panel, shown: 'visible' }),
    view: (data: unknown) => [{ text: JSON.stringify(data) }],
  }
  const app = await profiledApp(t, { directory, panels: [extra] })
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, { ...formbody.parse(String(body)) })
  })
  app.post<{ Body: { password: string } }>('/reset/:token', async function failing(request, reply) {
    const { password } = request.body
    reply.header('set-cookie', `session=${planted.setCookie}; Path=/; HttpOnly`)
    const fields = { user: 'visible', password: planted.logField, headers: request.headers }
    request.log.info(fields, `signed in with password=${planted.logMessage}`)
    const detail = `insert into users values ('${password}') -- secret: ${planted.sql}`
    request.recorder?.record({ kind: 'query', name: 'insert', detail }, 1)
    const message = `cannot use ${password}, ${planted.environment}, ${planted.webToken} nor {"secret":"${planted.errorMessage}","name":"visible"} at ${planted.database}`
    const cause = new Error(
      `connect postgres://portico:${planted.urlPassword}@localhost/db with token=${planted.cause}`,
    )
    throw Object.assign(new Error(message, { cause }), { clientSecret: planted.errorProperty })
  })
  const headers = {
    authorization: `Bearer ${planted.authorization}`,
    'proxy-authorization': `Basic ${Buffer.from(`user:${planted.basic}`).toString('base64')}`,
    'x-api-key': planted.apiKey,
    cookie: `theme=${planted.cookie}; quoted="${planted.quoted}"; ${planted.bare}; broken=${planted.broken}; other=${encodeURIComponent(planted.encodedCookie)}`,
    referer: `https://example.org/?access_token=${planted.referer}&next=visible`,
  }
  const json = JSON.stringify({ password: planted.json, deep: { credentials: { name: planted.nested } } })
  const form = formbody.stringify({ password: planted.form, name: 'visible' })
  const read: [where: string, text: string][] = []
  for (const accept of formats) {
    for (const [type, payload] of [
      ['application/json', json],
      ['application/x-www-form-urlencoded', form],
    ] as const) {
      const url = `/reset/${planted.parameter}?api_key=${planted.query}&page=visible`
      const sent = { ...headers, 'content-type': type, accept }
      const response = await app.inject({ method: 'POST', url, headers: sent, payload })
      t.equal(response.statusCode, 500)
      // The application's own JSON is not the profiler's concern.
      if (accept !== 'application/json') read.push([`the answer as ${accept}`, response.body])
      read.push(...(await readable(app, String(response.headers['x-debug-token']), ['extra'])))
    }
  }
  read.push(...stored(directory))
  for (const [place, secret] of Object.entries(planted)) t.same(leaksOf(secret, read), [], place)
  const found = read.some(([, text]) => text.includes('visible'))
  t.ok(found, 'what is not a secret is shown')
})

function setEnvironment(t: Test, variables: Record<string, string>): void {
  Object.assign(process.env, variables)
  t.teardown(() => {
    for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name)
  })
}

/** Each route exposes the texts in a way that applications do. */
async function plantingApp(t: Test, texts: readonly string[], directory: string): Promise<FastifyInstance> {
  const app = await profiledApp(t, { directory }, { routerOptions: { maxParamLength: 1000 } })
  app.get('/log-text', async ({ log }) => texts.map(text => log.info(`saw ${text} here`)).length)
  app.get('/log-field', async ({ log }) => texts.map((text, index) => log.info({ note: text, index }, 'noted')).length)
  app.get('/header', async (_request, reply) => {
    for (const [index, text] of texts.entries()) if (!text.includes('\n')) reply.header(`x-answer-${index}`, text)
    return 'ok'
  })
  app.get('/url', async () => 'ok')
  app.post('/body', async () => 'ok')
  app.get('/error', async () => {
    let error = new Error('none')
    for (let from = 0; from < texts.length; from += 5) {
      const message = texts.slice(from, from + 5).join(' and ')
      error = Object.assign(new Error(message, { cause: error }), { note: texts[from] })
    }
    throw error
  })
  app.get(
    '/sql',
    async ({ recorder }) =>
      texts.map(text => recorder?.record({ kind: 'query', name: 'select', detail: `select '${text}'` }, 1)).length,
  )
  return app
}

/** Sends one request through each channel. @returns everything readable about it, by channel, and what is stored */
async function plant(t: Test, texts: readonly string[]) {
  const directory = makeFolder()
  const app = await plantingApp(t, texts, directory)
  const query = texts.map((text, index) => `n${index}=${encodeURIComponent(text)}`).join('&')
  const headers = Object.fromEntries(
    texts.flatMap((text, index) => (text.includes('\n') ? [] : [[`x-note-${index}`, text]])),
  )
  const requests: InjectOptions[] = [
    { url: '/log-text' },
    { url: '/log-field' },
    { url: '/header', headers },
    { url: `/url?${query}` },
    { method: 'POST', url: '/body', payload: { notes: texts } },
    { url: '/error' },
    { url: '/sql' },
  ]
  const seen = new Map<string, string>()
  for (const request of requests) {
    const read = await readable(app, (await profileOf(app, request)).token)
    seen.set(String(request.url).slice(0, 10), [...read.values()].join('\n'))
  }
  return { seen, stored: stored(directory) }
}

t.test('no secret in a published format is on a page or on disk, wherever an application exposes it', async t => {
  t.equal(Object.keys(secrets).length, 60)
  const { seen, stored } = await plant(
    t,
    Object.values(secrets).map(([, text]) => text),
  )
  for (const [name, [secret]] of Object.entries(secrets)) t.same(leaksOf(secret, [...seen, ...stored]), [], name)
})

t.test('text that only resembles a secret is not masked', async t => {
  const { seen } = await plant(t, Object.values(harmless))
  for (const [channel, text] of seen) {
    t.notOk(text.includes('[masked]'), `${channel} masks nothing`)
    const missing = Object.entries(harmless).filter(([, value]) => leaksOf(value, [[channel, text]]).length === 0)
    t.same(missing, [], `${channel} shows all of them`)
  }
})

t.test('an environment variable that names a cookie does not make that name a secret', async t => {
  setEnvironment(t, {
    PLANTED_COOKIE_NAME: 'session_id',
    PLANTED_SESSION_SECRET: 'production',
    PLANTED_TOKEN_TTL: '12345678',
  })
  const { seen } = await plant(t, ['the session_id of production is 12345678'])
  t.match(seen.get('/log-text'), 'the session_id of production is 12345678')
})

t.test('passwords in URLs of the environment are masked, however unusual, both as written and decoded', async t => {
  setEnvironment(t, {
    PLANTED_AT_URL: 'postgres://user:ab@planted1@localhost/db',
    PLANTED_SLASH_URL: 'postgres://user:ab/planted2@localhost/db',
    PLANTED_ENCODED_URL: 'postgres://user:planted%203x@localhost/db',
    PLANTED_BROKEN_URL: 'postgres://user:planted%zz4@localhost/db',
    PLANTED_TOKEN_URL: 'https://plantedtokenplantedtoken5@localhost/db',
  })
  const app = await profiledApp(t)
  const words = ['ab@planted1', 'ab/planted2', 'planted 3x', 'planted%203x', 'planted%zz4', 'plantedtokenplantedtoken5']
  app.get('/', async ({ log }) => {
    for (const word of [...words, 'visible']) log.info(`saw ${word}.`)
    return 'ok'
  })
  const { logs } = await profileOf(app, '/')
  const messages = logs.slice(1, -1).map(({ message }) => message)
  t.same(messages, [...words.map(() => 'saw [masked].'), 'saw visible.'])
})

t.test('a secret used as the name of a field is masked', async t => {
  const app = await profiledApp(t)
  const token = String(secrets['GitHub token']?.[0])
  app.post('/', async ({ log }) => {
    log.info({ [`owner of ${token}`]: 1 }, 'noted')
    throw Object.assign(new Error('failed'), { owners: new Map([[token, 2]]) })
  })
  const profile = await profileOf(app, { method: 'POST', url: `/?${token}=3`, payload: { [token]: 4 } })
  t.notMatch(JSON.stringify(profile), token)
  t.match(profile.request.body, { '[masked]': 4 })
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
  const { spans, exceptions } = await profileOf(app, '/')
  t.notMatch(JSON.stringify([spans, exceptions]), /planted[sf]/)
  const names = spans.map(({ name }) => name)
  for (const name of ['GET /', 'token=[masked]', 'license']) t.ok(names.includes(name), name)
})

t.test('secrets in a request and its response are masked, behind a proxy too', async t => {
  const app = await profiledApp(t, {}, { trustProxy: true })
  app.post('/', async (_request, reply) => reply.header('content-type', 'text/plain; token=plantedanswer').send('ok'))
  const headers = {
    'content-type': 'application/json; token=plantedtype',
    'x-forwarded-for': 'plantedaddress5',
    'x-forwarded-proto': 'javascript:alert(1)//',
  }
  const url = '/?password=plantedaddress5'
  const answer = await app.inject({ method: 'POST', url, headers, payload: '{}' })
  const profile = await onlyProfile(t, app, '/')
  t.notMatch(JSON.stringify(profile), /planted[at]/)
  t.same(
    [profile.request.contentType, profile.response.contentType, profile.ip, profile.protocol],
    ['application/json; token=[masked]', 'text/plain; token=[masked]', '[masked]', 'http'],
  )
  t.match(answer.headers['x-debug-token-link'], /^http:\/\/localhost/)
  const forwarded = { 'x-forwarded-for': '203.0.113.1', 'x-forwarded-proto': 'https' }
  t.match(await profileOf(app, { url: '/secure', headers: forwarded }), { ip: '203.0.113.1', protocol: 'https' })
})
