import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { makeFolder } from './folder.ts'
import { profiledApp } from './profiled-app.ts'

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
  'UUID in capitals': '9F1C2A34-5B6D-4E7F-8A90-B1C2D3E4F506',
  'git hash': 'e83c5163316f89bfbde7d9ab23ca2e25604af290',
  'short git hash': 'e83c516',
  'SHA-256 digest': 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'integrity of a script': 'sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8KuxHSdkKfi7sM',
  'beginning of a PNG': 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ',
  'beginning of a GIF': 'R0lGODlhAQABAIAAAAAAAP',
  'CSS class': 'sk-circle-fade-dot',
  'CSS class of a project': 'sk-proj-card-two-column-layout-wide',
  'CSS class with a number': 'sk-ant-farm-grid-2-columns-narrow',
  'utility classes': 'md:grid-cols-2 hover:bg-slate-700',
  SKU: 'SK-1234-XL-RED',
  'SKU with a point': 'SG.2024.POSTER.A2',
  'word with sk-': 'sk-learn',
  'npm setting': 'npm_config_registry',
  'npm variable': 'npm_package_dependencies_fastify',
  'npm life cycle': 'npm_lifecycle_event',
  'ISO date': '2026-11-22',
  'ISO time': '2026-11-22T10:15:30.123Z',
  'asset name': '/assets/app.4f9a1c77e3b24c0d.js',
  'asset with base64': '/_next/static/chunks/main-DkX2mP9q.js',
  'word of a cookie': 'session_id',
  'name of a header': 'x-csrf-token',
  'name of a variable': 'AWS_ACCESS_KEY_ID',
  'name of a prefix': 'the ghp_ prefix',
  'GitHub word': 'github_pattern_matching_in_ruby_three',
  'GitLab word': 'glpat-less',
  'Slack word': 'xoxb-',
  'Slack address': 'https://hooks.slack.com/',
  'Stripe publishable word': 'sk_live_mode',
  'e-mail address': 'bob.smith@museum.example',
  'address in a link': 'mailto:bob@museum.example?subject=tickets',
  'address with a port': 'http://localhost:3000/@vite/client',
  'path with a version': '/node_modules/@fastify/static@8.1.0/index.js',
  'address of a repository': 'git+ssh://git@github.com/fastify/fastify.git',
  'address of a package': 'pkg:npm/%40fastify/cookie@11.0.2',
  'IPv4 address': '192.168.100.200',
  'IPv6 address': '2001:db8:85a3::8a2e:370:7334',
  'MAC address': '00:1b:44:11:3a:b7',
  'phone number': '+33 1 40 20 53 17',
  ISBN: '978-3-16-148410-0',
  'inventory number': 'MR 299 / N 527 / Ma 399',
  'geographic position': '48.860611,2.337644',
  'user agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  'media type': 'multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk',
  'language tags': 'fr-CH, fr;q=0.9, en;q=0.8',
  'ETag of a page': 'W/"1a2b-18f3c4d5e6f"',
  'sentence on a token': 'the token is invalid, ask for another one',
  'sentence on a password': 'Basic understanding of the password policy',
  'sentence on a bearer': 'Bearer authentication is required here',
  'sentence on curl': 'curl and wget are not installed',
  'SQL with a column': 'select "password_hash" from "users" where "id" = $1',
  'call of a function': 'tokens.map(token => token.id)',
  'beginning of a public key': '-----BEGIN PUBLIC KEY-----',
  'line of a file': 'at handler (/app/routes/session.ts:12:34)',
  'AKIA in a word': 'AKIAKUSHA',
  'version of a hash': '$2b$',
  ULID: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
}

/** Each route exposes the texts in a way that applications do. */
const channels = ['log-text', 'log-field', 'header', 'url', 'body', 'error', 'sql']

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

/** Sends one request through each channel. @returns everything readable about it, by channel */
async function plant(t: Test, texts: readonly string[]): Promise<{ seen: Map<string, string>; stored: string }> {
  const directory = makeFolder(t)
  const app = await plantingApp(t, texts, directory)
  const seen = new Map<string, string>()
  for (const channel of channels) {
    const query = texts.map((text, index) => `n${index}=${encodeURIComponent(text)}`).join('&')
    const { headers } = await app.inject({
      method: channel === 'body' ? 'POST' : 'GET',
      url: channel === 'url' ? `/url?${query}` : `/${channel}`,
      headers:
        channel === 'header'
          ? Object.fromEntries(texts.flatMap((text, index) => (text.includes('\n') ? [] : [[`x-note-${index}`, text]])))
          : {},
      ...(channel === 'body' ? { payload: { notes: texts } } : {}),
    })
    const pages = ['application/json', 'text/html', 'text/markdown'].flatMap(accept =>
      ['request', 'logs', 'exception', 'performance'].map(async panel => {
        const { body } = await app.inject({
          url: `/_profiler/${headers['x-debug-token']}?panel=${panel}`,
          headers: { accept },
        })
        return body
      }),
    )
    const exports = ['curl', 'har', 'file'].map(
      async name => (await app.inject(`/_profiler/${headers['x-debug-token']}/${name}`)).body,
    )
    const profile = await app.profiler.find(String(headers['x-debug-token']))
    seen.set(channel, [JSON.stringify(profile), ...(await Promise.all([...pages, ...exports]))].join('\n'))
  }
  return {
    seen,
    stored: readdirSync(directory)
      .map(name => readFileSync(join(directory, name), 'utf8'))
      .join('\n'),
  }
}

/** A text, also as JSON and URLs encode it. */
const spellings = (text: string) => [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text)]

t.test('no secret in a published format is on a page or on disk, wherever an application exposes it', async t => {
  t.equal(Object.keys(secrets).length, 60)
  const { seen, stored } = await plant(
    t,
    Object.values(secrets).map(([, text]) => text),
  )
  for (const [name, [secret]] of Object.entries(secrets)) {
    const leaks = [...seen]
      .filter(([, text]) => spellings(secret).some(spelling => text.includes(spelling)))
      .map(([channel]) => channel)
    t.same(leaks, [], `${name} is on no page`)
    t.notOk(
      spellings(secret).some(spelling => stored.includes(spelling)),
      `${name} is not on the disk`,
    )
  }
})

t.test('text that only resembles a secret is not masked', async t => {
  t.equal(Object.keys(harmless).length, 60)
  const { seen } = await plant(t, Object.values(harmless))
  for (const [channel, text] of seen) {
    t.notOk(text.includes('[masked]'), `${channel} masks nothing`)
    const missing = Object.entries(harmless).filter(
      ([, value]) => !spellings(value).some(spelling => text.includes(spelling)),
    )
    t.same(missing, [], `${channel} shows all of them`)
  }
})

t.test('an environment variable that names a cookie does not make that name a secret', async t => {
  process.env.PLANTED_COOKIE_NAME = 'session_id'
  process.env.PLANTED_SESSION_SECRET = 'production'
  process.env.PLANTED_TOKEN_TTL = '12345678'
  t.teardown(() => {
    for (const name of ['COOKIE_NAME', 'SESSION_SECRET', 'TOKEN_TTL']) {
      Reflect.deleteProperty(process.env, `PLANTED_${name}`)
    }
  })
  const { seen } = await plant(t, ['the session_id of production is 12345678'])
  t.match(seen.get('log-text'), 'the session_id of production is 12345678')
})

t.test('a secret used as the name of a field is masked', async t => {
  const app = await profiledApp(t)
  const [token] = secrets['GitHub token'] ?? []
  app.post('/', async ({ log }) => {
    log.info({ [`owner of ${token}`]: 1 }, 'noted')
    throw Object.assign(new Error('failed'), { owners: new Map([[token, 2]]) })
  })
  const { headers } = await app.inject({ method: 'POST', url: `/?${token}=3`, payload: { [String(token)]: 4 } })
  const profile = await app.profiler.find(String(headers['x-debug-token']))
  t.notMatch(JSON.stringify(profile), String(token))
  t.match(profile?.request.body, { '[masked]': 4 })
})

t.test('the password of a multipart form is masked, and its other fields are shown', async t => {
  const app = await profiledApp(t)
  // As @fastify/multipart attaches it to the body: each field refers to all fields.
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => {
    const fields: Record<string, object> = {}
    for (const [fieldname, value] of [
      ['password', 'planted-4x9'],
      ['title', 'La Joconde'],
      ['note', 'seen planted-4x9'],
    ]) {
      fields[String(fieldname)] = {
        type: 'field',
        fieldname,
        mimetype: 'text/plain',
        encoding: '7bit',
        value,
        fieldnameTruncated: false,
        valueTruncated: false,
        fields,
      }
    }
    done(null, fields)
  })
  app.post('/', async () => 'ok')
  const { headers } = await app.inject({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    payload: 'x',
  })
  const profile = await app.profiler.find(String(headers['x-debug-token']))
  t.notMatch(JSON.stringify(profile), 'planted-4x9')
  t.match(profile?.request.body, {
    password: { value: '[masked]', fields: '[circular]' },
    title: {
      type: 'field',
      fieldname: 'title',
      mimetype: 'text/plain',
      encoding: '7bit',
      value: 'La Joconde',
      fields: '[circular]',
    },
    note: { value: 'seen [masked]' },
  })
})

t.test('values of sensitive fields are masked there, and elsewhere only if they are unlikely to be words', async t => {
  const app = await profiledApp(t)
  app.post('/', async () => 'ok')
  const common = [
    'museum',
    'Europe/Paris',
    '12345',
    '20260',
    '2026-11-22',
    '11111111',
    'aaaaaaaaaaaa',
    'sha256-rsa',
    'localhost:3000',
    'bob@museum.example',
    'session-cookie-name',
    '2026-11-22T10:15:30Z',
  ]
  const unlikely = [
    'correct horse battery staple',
    'correct-horse-battery-staple',
    'correcthorsebatterystaple',
    '4111 1111 1111 1111',
    'x7Kp-2mQ9',
    '12345678',
  ]
  await app.inject({
    method: 'POST',
    url: '/',
    payload: { passwords: [...common, ...unlikely], list: [...common, ...unlikely] },
  })
  const { profiles } = await app.profiler.search({})
  const profile = await app.profiler.find(profiles[0]?.token ?? '')
  t.same(profile?.request.body, {
    passwords: [...common, ...unlikely].map(() => '[masked]'),
    list: [...common, ...unlikely.map(() => '[masked]')],
  })
})
