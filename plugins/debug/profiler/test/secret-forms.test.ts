import t from 'tap'
import { html } from '../index.ts'
import { onlyProfile, profiledApp } from './profiled-app.ts'

/** Each secret contains "planted", and nothing else must be masked. */
const secrets = {
  'a query': 'GET /a?token=planted1&page=2',
  'a query within a query': 'next=/a?token=planted1&page=2',
  'an encoded query': 'next=%2Fa%3Ftoken%3Dplanted1%26page%3D2',
  'a query encoded twice': 'next=%252Fa%253Ftoken%253Dplanted1%2526page%253D2',
  'an encoded value': 'password=p%22planted%5C1&page=2',
  'encoded brackets': 'user%5Bpassword%5D=planted1&page=2',
  'an authorization code': 'https://example.org/callback?code=planted1/xyzAbC45&page=2',
  'an encoded authorization code': 'to=%2Fcallback%3Fcode%3Dplanted1xyzAbC45%26page%3D2',
  quotes: 'login password="planted 1" page=2',
  'single quotes': "{ password: 'planted 1', page: 2 }",
  backticks: 'password: `planted 1` page: 2',
  'a missing closing quote': '{"page":2,"password":"planted 1',
  numbers: '{"pin":98761,"page":2}'.replace('98761', '9planted'),
  JSON: '{"password":"planted \\"1\\" \\\\","page":2}',
  'JSON in JSON': '{"body":"{\\"password\\":\\"planted \\\\\\"1 planted\\",\\"page\\":2}"}',
  'encoded JSON': 'filter=%7B%22password%22%3A%22planted1%22%2C%22page%22%3A2%7D',
  'encoded JSON with a number': 'filter=%7B%22pin%22%3A9planted%2C%22page%22%3A2%7D',
  structures: '{"credentials":{"name":"planted]","list":["planted1"]},"page":2}',
  'an escaped structure': '{\\"tokens\\":[\\"planted1\\",\\"planted2\\"],\\"page\\":2}',
  'an unterminated structure': '{"page":2,"tokens":["planted1","planted2"',
  GraphQL: 'mutation { login(user: "page", password: "planted 1") }',
  'GraphQL blocks': 'login(password: """planted "1" planted""", page: 2)',
  'an unterminated GraphQL block': 'page(password: """planted "1"',
  SQL: "update users set password = 'planted 1' where page = 2",
  XML: '<page><password>planted1</password></page>',
  'XML with attributes': '<page><ns:password type="text">planted1</ns:password></page>',
  CDATA: '<page><password><![CDATA[pl<anted planted]]></password></page>',
  header: 'page, Authorization: Bearer planted1',
  cookies: 'page, Cookie: theme=planted1; other=planted2',
  scheme: 'page of Bearer planted1',
  'a user and password': 'page at postgres://user:planted1@localhost/db',
  'a web token': 'page of eyJhbGciOiJIUzI1NiJ9.eyJplanted.planted',
  'half a web token': 'page of eyJhbGciOiJIUzI1NiJ9.eyJplanted',
  'a web token under its name': 'page token=eyJhbGciOiJIUzI1NiJ9.eyJplanted.planted',
  'a pair with an invalid name': '{"page":2,"key":"planted1value","value":"visible"}',
  'a map': "Map(2) { 'page' => 2, 'password' => 'planted 1' }",
  'a map of maps': "Map(2) { 'credentials' => { a: 'planted1' }, 'page' => 2 }",
  'a map with unquoted names': 'page, password => "planted1"',
  'an option': 'mysql --password planted1 --page',
  'an option with a quote': "--password 'planted-1a2' --page",
  'an option with an equals sign': 'mysql --password=planted1 --page',
  'a private key': 'page\n-----BEGIN RSA PRIVATE KEY-----\nplanted1\nplanted2\n-----END RSA PRIVATE KEY-----',
  'unterminated private keys': 'page\n-----BEGIN PRIVATE KEY-----\nplanted1\n-----BEGIN PRIVATE KEY-----\nplanted2',
  'a password with an @': 'page at postgres://user:ab@planted1@localhost/db',
  'a password with an @ in a web URL': 'page at https://user:ab@planted1@localhost/db/@x',
  'a password with a slash': 'page at postgres://user:ab/planted1@localhost/db',
  'a token as the user': 'page at https://planted123456@github.com/a/b',
  'a long token as the user': 'page at https://plantedplantedplantedplanted@github.com/a/b',
  'names with numbers': 'page, X-Api-Key-V2: planted1, apikey1=planted2, pass1=planted3, cvv2=planted4',
  'names of sessions': 'PHPSESSID=planted1 connect.sid=planted2 page=3',
  'names in other languages': 'page=1, passwort=planted1, senha=planted2, mot_de_passe=planted3',
  'a short authorization code': 'page of http://localhost/x?code=Mb6planted1Q and /cb?code=Mb6planted1Qw&state=s',
  'schemes in capitals': 'page of BASIC planted1xyz= and BEARER planted1xyz and bEaReR planted1xyz',
  'a password with a slash and an @': 'page at postgres://u:pa/ss@planted77@h/db',
  'short options of curl': 'curl -sSu alice:planted http://localhost/page',
  'curl for Windows': 'curl.exe -u alice:planted http://localhost/page',
  'curl on two lines': 'curl http://localhost/page \\\n  -u alice:planted',
  'curl with nothing else on its line': 'curl \\\n-u alice:planted http://localhost/page',
  'options by sensitive names':
    'page --pw planted1 --dsn=planted2 --cookie "planted3 1" --session-id planted4 --credential planted5 --otp planted6',
  'a secret behind a harmless option': 'page --url postgres://user:planted1@localhost/db',
  'a token of Portico': `page of portico_planted${'aB3-_x'.repeat(6)}`,
  'a password for MySQL': 'mysql -u root -pplanted page',
  'a quoted password for MySQL': "mysqldump -p'planted one' page",
  'a password for sshpass': 'sshpass -p planted ssh page',
  'a quoted password for sshpass': 'sshpass -p "planted one" ssh page',
  'a word as a password': 'page with password=planted and otp=plant',
  'a word in a form': 'token=planted&page=2',
  'a secret in a secret': 'page token=eyJhbGciOiJIUzI1NiJ9.eyJplanted.planted@x',
}

const harmless = [
  "{ code: 'ECONNREFUSED', syscall: 'connect' }",
  '{"code":"ECONNREFUSED","statusCode":500}',
  'GET /status?code=404&page=2',
  'GET /errors?code=ECONNREFUSED',
  'select "a"."id" from "a" join "b" on "a"."key" = "b"."key" where "token" = $1 and password = ?',
  'select a.id from a join b on a.key = b.key',
  '{"token":null,"session":false}',
  'token === undefined',
  'password: [masked]',
  '<password></password>',
  'oauth://callback',
  'see https://example.org:8080/a:b',
  'at 12:30, ratio 1:2 = 0.5, 50%',
  '= : "a" :',
  '{"name":"color","value":"red"}, {"key":"size","value":"42"}',
  '{"name":"password","value":null}',
  '["password","email"], ["token","session-2"], ["title","readable2"], ["password","must be 8 letters"]',
  'token => token.id, password => { ok }',
  '(token=> token.id)',
  'the password is wrong, the token was 5 minutes old, the session is expired',
  'the secret is base64-encoded, the name is room101',
  'the option --token is missing, use --no-password readable or --password --verbose, or --page 2, or --token',
  '{"code":"ECONNREFUSED","redirect_uri":"http://localhost/"}',
  'http://localhost:3000/@vite/client and http://localhost:3000/node_modules/@fastify/static and ssh://git@github.com/a/b',
  `https://example.org/${'x'.repeat(1300)}@`,
  'https://example.org and bob@example.org',
  '<p name="title">readable</p><param name="password"><br>',
  '<password>',
  'usage: login --token <value>',
  '-----BEGIN PUBLIC KEY-----',
  'PRIVATE KEY-----',
  'tokens=5, auth=required, pin=board, token: invalid, session = Expired',
  'mysql -p museum and mysql -P 3306 -h localhost and sshpass -e ssh',
  'the table portico_changes and --color readable1 --level 1234567',
  'curl -X PUT http://localhost:3000/a',
  'oauth2: readable, bypass=readable, auth0: readable',
]

t.test('secrets are recognized by their form, and nothing else is', async t => {
  const app = await profiledApp(t)
  const texts = Object.values(secrets)
  app.post('/', async request => {
    for (const text of [...texts, ...harmless]) request.log.info(text)
    return 'ok'
  })
  await app.inject({ method: 'POST', url: '/' })
  const { logs } = await onlyProfile(t, app, '/')
  const messages = logs.slice(1).map(({ message }) => message)
  for (const [index, name] of Object.keys(secrets).entries()) {
    t.notMatch(messages[index], /plant|9pl/, `${name}: ${messages[index]}`)
    t.match(messages[index], 'page', `${name} leaves the rest`)
  }
  t.same(messages.slice(texts.length, -1), harmless)
})

t.test('a secret is masked wherever else it appears, in any encoding and even as a number', async t => {
  const app = await profiledApp(t)
  const password = 'p"a\\ss wörd<&\'x'
  app.post('/', async ({ body, log }) => {
    log.info({ number: 98765432, id: 7 }, `got ${JSON.stringify(body)}`)
    throw new Error(
      [
        JSON.stringify({ body: JSON.stringify({ name: password }) }),
        JSON.stringify([password]),
        encodeURIComponent(password),
        new URLSearchParams({ name: password }).toString(),
        'p&quot;a\\ss wörd&lt;&amp;&#39;x',
        '"p\\"a\\\\ss w\\u00f6rd<&\'x"',
        'bad 4111111111111111',
        'x98765432y',
        'big 123456789012345678901',
      ].join(' | '),
    )
  })
  const payload = JSON.stringify({ password, pin: 98765432, cardNumber: 4111111111111111, other: 'visible' })
  await app.inject({ method: 'POST', url: '/', headers: { 'content-type': 'application/json' }, payload })
  const profile = await onlyProfile(t, app, '/')
  t.notMatch(JSON.stringify(profile), /98765432|4111111|w(?:ö|%|\\+u00f6)|ss w/i)
  t.match(profile.exceptions[0]?.message, /^\{"body":.* \| .*visible|masked/)
  t.match(profile.logs[1]?.fields, { number: '[masked]', id: 7 })
  t.match(profile.request.body, { other: 'visible' })
})

t.test('a secret in a URL is masked as it is spelled there', async t => {
  const app = await profiledApp(t)
  app.get('/params/:token/:id', async () => 'ok')
  app.get('/callback', async (_request, reply) => reply.redirect('/after?code=plantedlocation3xYz&page=2'))
  await app.inject({
    url: '/params/s%65cret-tok%65n-4x2/5?again=s%65cret-tok%65n-%34x2&page=2',
    headers: { referer: 'http://localhost/s%65cret-token-4x2' },
  })
  const params = await onlyProfile(t, app, '/params')
  t.same(
    [params.path, params.url, params.request.query],
    ['/params/[masked]/5', '/params/[masked]/5?again=[masked]&page=2', { again: '[masked]', page: '2' }],
  )
  t.notMatch(JSON.stringify(params), /s(?:e|%65)cret-tok/)
  const { profiles } = await app.profiler.search({ url: '/params' })
  t.equal(profiles[0]?.url, params.url)
  const answer = await app.inject({
    url: '/callback?code=plantedcode2xYzAbC&state=visible',
    headers: { 'x-auth': 'plantedauth4', 'ocp-apim-subscription-key': 'plantedkey5' },
  })
  t.match(answer.headers.location, 'plantedlocation3')
  const callback = await onlyProfile(t, app, '/callback')
  t.equal(callback.url, '/callback?code=[masked]&state=visible')
  t.notMatch(JSON.stringify(callback), 'planted')
})

t.test('an authorization code in the query of a referer is masked there and in messages that repeat it', async t => {
  const app = await profiledApp(t)
  app.get('/', async request => {
    request.log.info(`from "${request.headers.referer}"`)
  })
  for (const referer of ['http://localhost/x?code=Mb6Nc3Xz8Lk1Qw', '/cb?code=Mb6Nc3Xz8Lk1Qw&state=s']) {
    await app.inject({ url: '/?page=1', headers: { referer } })
  }
  const { profiles } = await app.profiler.search({})
  t.equal(profiles.length, 2)
  for (const { token } of profiles) t.notMatch(JSON.stringify(await app.profiler.find(token)), 'Mb6Nc3Xz8Lk1Qw')
})

t.test('sensitive fields are masked whatever their spelling, and error codes are not', async t => {
  const app = await profiledApp(t)
  app.post('/', async () => {
    throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED', statusCode: 503, errno: -111 })
  })
  const payload = {
    otpCode: 'planted1',
    pw: 'planted2',
    private: 'planted3',
    query: 'mutation { login(password: "planted-4x9") }',
    code: 'E_FAILED',
    again: 'planted-4x9',
    statusCode: 12345678,
  }
  await app.inject({ method: 'POST', url: '/', payload })
  const profile = await onlyProfile(t, app, '/')
  t.notMatch(JSON.stringify(profile), 'planted')
  t.match(profile.request.body, { code: 'E_FAILED', again: '[masked]', statusCode: 12345678 })
  t.match(profile.exceptions[0], { code: 'ECONNREFUSED', statusCode: 503, properties: { errno: -111 } })
})

t.test('a cookie that remembers a choice is not masked elsewhere in the profile', async t => {
  const app = await profiledApp(t)
  app.get('/museums/louvre-paris', async () => 'ok')
  const cookie = 'theme=museum; view=louvre-; page=123456; zone=Europe/Paris; session=museum'
  await app.inject({ url: '/museums/louvre-paris?museum=1', headers: { cookie } })
  const profile = await onlyProfile(t, app, '/museums/louvre')
  t.equal(profile.url, '/museums/louvre-paris?museum=1')
  t.same(profile.request.cookies, {
    theme: '[masked]',
    view: '[masked]',
    page: '[masked]',
    zone: '[masked]',
    session: '[masked]',
  })
})

t.test('secrets are masked whole, however long, and very short ones are not', async t => {
  const app = await profiledApp(t, { secrets: ['abc', 'standing'] })
  const long = `${'long '.repeat(30)}end`
  const huge = `${'huge '.repeat(2000)}end`
  app.post('/', async ({ log }) => {
    log.info(`a ${long} b ${long} c`)
    log.info(`a ${huge} b`)
    log.info(`${'x'.repeat(15_990)}${long}`)
    log.info('abc is standing')
    return 'ok'
  })
  await app.inject({ method: 'POST', url: '/', payload: { passwords: [long, huge] } })
  const [, first, second, third, fourth] = (await onlyProfile(t, app, '/')).logs
  t.equal(first?.message, 'a [masked] b [masked] c')
  t.equal(second?.message, 'a [masked]')
  t.equal(fourth?.message, 'abc is [masked]')
  t.match(third?.message, /^x{4000}… \(\d+ characters\)$/)
})

t.test('texts are left out, with a note, if there are too many secrets to search for', async t => {
  const app = await profiledApp(t)
  app.post('/', async ({ recorder, log }) => {
    log.info('saw plantedlast9')
    for (let number = 0; number < 1100; number++) recorder?.conceal(`concealed${number}`)
    recorder?.conceal('concealed0')
    return 'ok'
  })
  app.post('/tokens', async () => {
    throw new Error('bad planted1050')
  })
  await app.inject({ method: 'POST', url: '/', payload: { password: 'plantedlast9' } })
  const {
    profiles: [concealed],
  } = await app.profiler.search({})
  const profile = await app.profiler.find(concealed?.token ?? '')
  t.match(
    profile?.dropped.find(({ what }) => what === 'secrets'),
    { count: 101 },
  )
  t.match(profile, { status: 200, logs: [{}, { message: '[left out]' }] })
  await app.inject({
    method: 'POST',
    url: '/tokens',
    payload: { tokens: Array.from({ length: 1100 }, (_, index) => `planted${index}`) },
  })
  const {
    profiles: [learned],
  } = await app.profiler.search({})
  const tokens = await app.profiler.find(learned?.token ?? '')
  t.notMatch(JSON.stringify(tokens), 'planted')
  t.match(tokens?.dropped, [{ what: 'secrets', count: 100 }])
})

t.test('notes beyond their bound are counted', async t => {
  const app = await profiledApp(t)
  app.get('/', async ({ recorder }) => {
    for (let number = 0; number < 25; number++) recorder?.note(`note ${number}`)
    recorder?.note('note 0')
    return 'ok'
  })
  await app.inject('/')
  const { notes, dropped } = await onlyProfile(t, app, '/')
  t.equal(notes.length, 20)
  t.match(dropped, [{ what: 'notes', count: 5 }])
})

t.test('texts beyond their bound are left out, with a note', async t => {
  const app = await profiledApp(t, {
    profileBounds: { texts: 5000 },
    panels: [{ name: 'long', label: 'Long', collect: () => ['y'.repeat(3000), 'last one'], body: () => html`` }],
  })
  app.post('/', async () => 'ok')
  await app.inject({ method: 'POST', url: '/', payload: { long: 'x'.repeat(3000) } })
  const { panels, dropped } = await onlyProfile(t, app, '/')
  t.same(panels, { long: ['[left out]', '[left out]'] })
  t.match(dropped, [{ what: 'texts' }])
  await app.inject({ method: 'POST', url: '/learned', payload: { long: 'x'.repeat(6000) } })
})

/** The profile of a request whose handler logs its body, and the CPU seconds it took. */
async function profileOf(t: Parameters<typeof profiledApp>[0], payload: string) {
  const app = await profiledApp(t)
  app.post('/', async request => {
    throw new Error(String(JSON.stringify(request.body)).slice(0, 20_000))
  })
  await app.ready()
  const before = process.cpuUsage()
  await app.inject({ method: 'POST', url: '/', headers: { 'content-type': 'application/json' }, payload })
  const profile = await onlyProfile(t, app, '/')
  const { user, system } = process.cpuUsage(before)
  return { profile, seconds: (user + system) / 1_000_000 }
}

const hostile: Record<string, string> = {
  letters: 'a',
  'letters before a colon': 'a:',
  quotes: '"',
  'single quotes': "'",
  'equals signs': '=',
  'encoded signs': '%3D',
  'encoded percents': '%25',
  spaces: ' ',
  'spaces before a colon': '    :',
  backslashes: '\\',
  'backslashes and quotes': '\\"',
  names: 'password',
  'names and signs': 'password=',
  'names and quotes': 'password:"',
  'names and brackets': 'password:[',
  'names and braces': '{"token":',
  tags: '<a',
  'tags with names': '<pw><![CDATA[',
  'closed tags': '</',
  'token beginnings': '-eyJ',
  'tokens without end': 'eyJaaaaa.',
  schemes: 'a://',
  'schemes with users': 'a://x:',
  schemed: 'Bearer ',
  'columns after names': 'key = a.key ',
  'query signs': '?code=',
  brackets: '[',
  'at signs': ':@',
  'schemes and at signs': 'a://@',
  'schemes, users and at signs': 'a://x:@',
  'schemes of the web': 'http://x:y',
  'schemes of the web with slashes': 'http://x:y/@',
  arrows: "'token'=>{",
  'arrows without quotes': 'token=>{',
  pairs: '"name":"key",',
  'pairs of names': '"key":"key","value":',
  'quoted names': '"token",',
  'quoted names and values': '"token","1a2b3c',
  'escaped names': '\\"token\\",',
  options: ' --token ',
  sentences: 'token is ',
  'tags with attributes': '<a name="key" value="',
  'tags in tags': '<key><a>',
  'private keys': '-----BEGIN PRIVATE KEY-----',
  codes: '"code":"',
  commas: "',",
  'tokens of words': 'sk-proj-some-words-',
  'tokens one after another': 'ghp_xoxb-AKIAglpat-',
  'web tokens after hyphens': '-eyJaaaaa',
  'web tokens after underscores': '_eyJaaaaa',
  'half a SendGrid key': 'SG.aaaaaaaaaaaaaaaaaaaaaa.',
  'curl and a user': 'curl -u a',
  'curl and options': 'curl -u ',
  'options without a value': '--token--key ',
  'beginnings of private keys': '-----BEGIN ',
  'webhooks without a path': 'hooks.slack.com/services/',
  'schemes and ports': 'a://b:80/c',
  'password hashes': '$2b$$argon2',
  'regions of Mailchimp': '-us1',
  'elements without text': '<token></token>',
  'sections without end': '<token><![CDATA[',
  'options of curl': 'curl -su',
  'lines of curl': 'curl \\\n',
  'passwords for MySQL': 'mysql -p ',
  'users with slashes and at signs': 'a://x:y/@a',
  'options with values': '--url a ',
  'keys and brackets': '"key":[',
  'keys and braces': 'key:{',
  'codes and braces': 'code:{',
  'keys, braces and quotes': 'key1:{"',
}

t.test('no text takes longer than its length justifies, whatever it contains', async t => {
  for (const [name, piece] of Object.entries(hostile)) {
    const text = piece.repeat(Math.floor(15_990 / piece.length))
    const { seconds } = await profileOf(
      t,
      JSON.stringify({ a: Array.from({ length: 20 }, (_, index) => `${text}${index}:`) }),
    )
    t.ok(seconds < 1, `${name}: ${seconds} s`)
  }
})

t.test('the number of values learned is bounded, and texts with unlearned ones are not shown', async t => {
  const rows = `[${Array.from({ length: 100 }, () => `[${Array(1100).fill('{}').join()}]`).join()},{"password":"plantedlast"},"seen plantedlast"]`
  const { profile, seconds } = await profileOf(t, rows)
  t.notMatch(JSON.stringify(profile), 'planted')
  t.match(profile.dropped.find(({ what }) => what === 'values that may be secrets')?.count, Number)
  t.ok(seconds < 2, `${seconds} s`)
  const { profile: deep } = await profileOf(t, `${'{"a":'.repeat(200)}{"password":"planted"}${'}'.repeat(200)}`)
  t.match(
    deep.dropped.find(({ what }) => what === 'values that may be secrets'),
    { count: 1 },
  )
})

t.test('searching for the largest number of secrets is not slow', async t => {
  const start = 'a'.repeat(800)
  const { seconds } = await profileOf(
    t,
    JSON.stringify({
      tokens: Array.from({ length: 900 }, (_, index) => `${start}${index}`),
      texts: Array(20).fill('a'.repeat(10_000)),
    }),
  )
  t.ok(seconds < 1, `${seconds} s`)
})
