import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { onlyProfile, profiledApp, profileOf } from './profiled-app.ts'

/** Each secret contains "planted", and nothing else must be masked. */
const secrets = {
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
  'half a web token': 'page of eyJhbGciOiJIUzI1NiJ9.eyJplanted',
  'a web token under its name': 'page token=eyJhbGciOiJIUzI1NiJ9.eyJplanted.planted',
  'a pair with an invalid name': '{"page":2,"key":"planted1value","value":"visible"}',
  'a map': "Map(2) { 'page' => 2, 'password' => 'planted 1' }",
  'a map of maps': "Map(2) { 'credentials' => { a: 'planted1' }, 'page' => 2 }",
  'a map with unquoted names': 'page, password => "planted1"',
  'an option with a quote': "--password 'planted-1a2' --page",
  'an option with an equals sign': 'mysql --password=planted1 --page',
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
  'a key of PostgreSQL': 'page: Key (email, "apiToken")=(planted, planted) 1) already exists.',
  'a key of an expression': 'page: Key (lower(api_token))=(planted 1) is not present in table "planets".',
  'a session of PostgreSQL': 'page: Key (sid)=(planted-1x2y) already exists.',
  'a key in German': 'page: »(api_token)=(planted 1)« existiert',
  'a row of PostgreSQL': 'page: Failing row contains (1, planted, planted 1, null).',
  'a key in JSON': '{"detail":"Key (api_token)=(planted 1) already exists.","page":"f(2)"}',
  'a changed user of MySQL': "alter user page identified/**/by 'planted1' replace 'planted2'",
  'a role in dollar quotes': 'alter role page password $x$planted1$x$ login',
  'a user of MySQL': "create user 'a'@'%' identified by 'planted''planted' -- page",
  'a user of MySQL with a plugin': 'page, IDENTIFIED WITH caching_sha2_password BY "planted 1"',
  'a new password of MySQL': "SET PASSWORD FOR 'page'@'%' = 'planted 1'",
  'a new password in a function of MySQL': "page: set password = password('planted 1')",
  'a key of MySQL': "page: Duplicate entry 'planted '1' for key 'users.api_token'",
  'a role of PostgreSQL with an escape': "alter role page password E'planted 1'",
  'a role of PostgreSQL': "alter role page with password 'planted 1'",
  'a doubled quote': "password='planted''planted' page=2",
  'an account of Azure': 'page;AccountKey=planted1/2+3xyz==;',
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
  'oauth2: readable, bypass=readable, auth0: readable, access-control-allow-credentials: readable',
  'Key (id)=(5) is still referenced from table "api_tokens". Key (sid)=(seat-12) already exists.',
  "Duplicate entry 'Louvre' for key 'museums.name', set password to 'readable'",
  "identified by 5, the museum was identified by its name 'Louvre', f(a)=(b)",
  'secretary=Ada&tokens=120&password_changed_at=2026-11-22&salt=fleur&accountKey=ACME-12&designature=left&sid=seat-12',
  '{"secretary":"Ada","tokens":120,"password_changed_at":"2026-11-22T10:15:30Z","salt":"fleur de sel","sid":"seat-12"}',
]

t.test('secrets are recognized by their form, and nothing else is', async t => {
  const app = await profiledApp(t)
  const texts = Object.values(secrets)
  app.post('/', async request => {
    for (const text of [...texts, ...harmless]) request.log.info(text)
    return 'ok'
  })
  const { logs } = await profileOf(app, { method: 'POST', url: '/' })
  const messages = logs.slice(1).map(({ message }) => message)
  for (const [index, name] of Object.keys(secrets).entries()) {
    t.notMatch(messages[index], /plant|9pl/, `${name}: ${messages[index]}`)
    t.match(messages[index], 'page', `${name} leaves the rest`)
  }
  t.same(messages.slice(texts.length, -1), harmless)
})

const masked = '[masked]'
const signature = 'sigNature0sigNature0sigNature0sig'
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** A value that is shown masked. */
class Secret {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

const secret = (value: unknown) => new Secret(value)

/** What is sent, and what is shown of it. */
function sentAndShown(body: object): [sent: object, shown: object] {
  const copy = (valueOf: (secret: Secret) => unknown) =>
    JSON.parse(JSON.stringify(body, (_key, value: unknown) => (value instanceof Secret ? valueOf(value) : value)))
  return [copy(({ value }) => value), copy(() => masked)]
}

const common =
  'museum,Europe/Paris,12345,20260,2026-11-22,11111111,aaaaaaaaaaaa,sha256-rsa,localhost:3000,bob@museum.example,session-cookie-name,2026-11-22T10:15:30Z'.split(
    ',',
  )
const unlikely =
  'correct horse battery staple,correct-horse-battery-staple,correcthorsebatterystaple,4111 1111 1111 1111,x7Kp-2mQ9,12345678'.split(
    ',',
  )

/** One or more for each pattern of sensitive names. */
const sensitiveNames =
  'password,passwd,passphrase,passcode,pass,pw,dbPw,pwd,passwort,kennwort,motDePasse,contrasena,senha,passkey,' +
  'client_secret,token,authorization,auth,credentials,cookie,session,sessid,x-authentication,dpop,sentry_dsn,csrf,' +
  'xsrf,signature,sig,hmac,totp,otp,otpCode,private,pin,pinCode,cvv,cvc,creditCard,cardNumber,cardNo,iban,ssn,bearer,' +
  'jwt,SAMLResponse,client_assertion,code_verifier,mnemonic,seedPhrase,recovery-phrase,securityAnswers,backupCode,' +
  'resetCode,apiKey,accessKey,privateKey,signingKey,encryptionKey,licenseKey,sshKey,webhook_key'

const bodies: Record<string, object> = {
  'a value under each kind of sensitive name is masked': Object.fromEntries(
    sensitiveNames.split(',').map(name => [name, secret('planted')]),
  ),
  'a password that is a common word is masked in its field and nowhere else': {
    password: secret('request'),
    pin: secret(1234),
    secrets: [secret(1), null, secret(true)],
    note: 'a request',
  },
  'values of sensitive fields are masked elsewhere only if they are unlikely to be words': {
    passwords: [...common, ...unlikely].map(secret),
    list: [...common, ...unlikely.map(secret)],
  },
  'a value that another field or item names is masked': {
    fields: [
      { name: 'password', value: secret('plantedvalue1') },
      { key: 'api_key', value: secret('plantedvalue2') },
      { Key: 'Token', Value: secret('plantedvalue3') },
    ],
    unlike: { key: secret('planted1value4'), value: 1 },
    headers: [
      ['Authorization', secret('Basic planted5')],
      ['Accept', 'text/html'],
    ],
  },
  'what another field or item names harmlessly is shown': {
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
  },
  'everything under a sensitive name is masked': {
    token: { name: secret('plantedvalue6'), value: secret('plantedvalue7') },
  },
  'an authorization code is masked beside its grant': {
    grant_type: 'authorization_code',
    code: secret('4/0planted_1xYzAbC'),
  },
  'an authorization code is masked beside its redirect': {
    redirectUri: 'http://localhost/',
    code: secret('4/0planted_2xYzAbC'),
  },
  'an error code beside a redirect is shown': { redirect_uri: 'http://localhost/', code: 'ECONNREFUSED' },
  'a code that is a number is shown': { grant_type: 'other', code: 12345678 },
  'a code with nothing beside it is shown': { code: 'readable-1' },
  'a long code with nothing beside it is shown': { code: 'a1b2c3d4e5f6a7b8c9d0' },
  'a numbered key is masked if it looks like one': { key1: secret('planted123457'), key2: 'visible', key3: 5 },
  'sensitive fields are masked whatever their spelling, and where they are repeated': {
    otpCode: secret('planted1'),
    pw: secret('planted2'),
    private: secret('planted3'),
    code: 'E_FAILED',
    repeated: secret('planted-4x9'),
    password: secret('planted-4x9'),
    statusCode: 12345678,
  },
  'harmless words and counts under names that only resemble secrets are shown, and their secrets are not': {
    shown: { secretary: 'Ada', tokens: 120, salt: 'fleur de sel', accountKey: 'ACME-12', sid: 'seat-12' },
    names: { password_changed_at: '2026-11-22T10:15:30Z', designature: 'left', tokenizer: 'standard' },
    more: { sessions: 12, signature_date: '2026-11-22' },
    masked: { salt: secret('planted-1x2y'), sid: secret('planted-1x2y'), tokens: [secret('planted')] },
    key: { accountKey: secret('planted-1x2y'), token: secret(120) },
    seen: secret('planted-1x2y'),
  },
  'a secret that cannot be encoded is masked': {
    password: secret('\ud800plantedlone'),
    token: secret('ab'),
    note: 'ab',
  },
  'a password after a thousand other names is masked': {
    ...Object.fromEntries(Array.from({ length: 1100 }, (_, index) => [`name${index}`, index])),
    password: secret('planted'),
  },
}

for (const [title, body] of Object.entries(bodies)) {
  t.test(`in a body and in a line of the log, ${title}`, async t => {
    const app = await profiledApp(t)
    app.post('/', async request => {
      request.log.info({ body: request.body }, `got ${JSON.stringify(request.body)}`)
      return 'ok'
    })
    const [payload, shown] = sentAndShown(body)
    const profile = await profileOf(app, { method: 'POST', url: '/', payload })
    t.notMatch(JSON.stringify(profile), 'planted')
    t.same(profile.request.body, shown)
  })
}

const cookieJson = JSON.stringify({
  token: 'planted-json-1x',
  list: ['plantedLong1', 'planted-long-2x-planted', 'visible-words-that-are-long'],
  id: 7,
  page: 'visible1',
})
const inJson = ['planted-json-1x', 'plantedLong1', 'planted-long-2x-planted']

/** Headers, and the secrets inside their values. */
const carriers: Record<string, [header: 'authorization' | 'cookie', value: string, inside: string[]]> = {
  'a session of Express': ['cookie', `sid=${encodeURIComponent('s:plantedid1.short')}`, ['plantedid1']],
  'a signed cookie': ['cookie', `a=plantedid2.${signature}`, ['plantedid2']],
  'JSON in a cookie': ['cookie', `a=${encodeURIComponent(`j:${cookieJson}`)}`, inJson],
  'encoded JSON in a cookie': ['cookie', `a=${base64(cookieJson)}`, inJson.slice(0, 2)],
  'encoded text in a cookie': ['cookie', `a=${base64('plantedText1')}`, ['plantedText1']],
  'Token credentials': ['authorization', 'Token token="planted-token-1x", nonce="visible"', ['planted-token-1x']],
  'Digest credentials': ['authorization', 'Digest username="visible", response="planted-di-1x"', ['planted-di-1x']],
  'signed credentials': ['authorization', 'AWS4 SignedHeaders=visible, Signature=planted-si-1x', ['planted-si-1x']],
  'credentials without a scheme': ['authorization', 'plantedwhole1', ['plantedwhole1']],
  'words and beginnings of values': [
    'cookie',
    ['visible.short', '{visible', `a.${signature}`, base64('visible of many words'), base64('{visible of words')]
      .map(value => `a=${value}`)
      .join('; '),
    [],
  ],
  'choices that a visitor has made': ['cookie', 'theme=visible; view=louvre-; page=123456; zone=Europe/Paris', []],
}

for (const [name, [header, value, inside]] of Object.entries(carriers)) {
  t.test(`of ${name}, what is secret is masked wherever it is repeated`, async t => {
    const app = await profiledApp(t)
    app.post('/museums/louvre-paris', async request => {
      request.log.info(`saw ${JSON.stringify(request.body)}`)
      return 'ok'
    })
    const words = ['visible', 'visible1', 'visible-words-that-are-long', 'of many words', '123456', 'Europe/Paris']
    const url = '/museums/louvre-paris?visible=1'
    const payload = [...inside, ...words]
    const profile = await profileOf(app, { method: 'POST', url, headers: { [header]: value }, payload })
    t.notMatch(JSON.stringify(profile), 'planted')
    t.same(profile.request.body, [...inside.map(() => masked), ...words])
    t.equal(profile.url, url)
    t.ok(Object.values(profile.request.cookies).every(shown => shown === masked))
    t.ok(profile.request.headers.every(([name, shown]) => name !== header || shown.includes(masked)))
  })
}

t.test('in logs and errors, a value that another item names is masked, and codes of errors are not', async t => {
  const app = await profiledApp(t)
  app.get('/', async ({ log }) => {
    log.info({ header: { name: 'Authorization', value: 'plantedfield1' } })
    const sent = ['X-Api-Key', 'plantedraw2', 'Host', 'localhost']
    throw Object.assign(new Error('refused'), { sent, code: 'ECONNREFUSED', statusCode: 503, errno: -111 })
  })
  const { exceptions, logs } = await profileOf(app, '/')
  t.match(logs[1]?.fields, { header: { name: 'Authorization', value: masked } })
  t.match(exceptions[0], {
    code: 'ECONNREFUSED',
    statusCode: 503,
    properties: { errno: -111, sent: ['X-Api-Key', masked, 'Host', 'localhost'] },
  })
})

t.test('the password of a multipart form is masked, and its other fields are shown', async t => {
  const app = await profiledApp(t)
  // As @fastify/multipart attaches it to the body: each field refers to all fields.
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => {
    const fields: Record<string, object> = {}
    const field = { type: 'field', mimetype: 'text/plain', encoding: '7bit', fields }
    fields.password = { ...field, fieldname: 'password', value: 'planted-4x9' }
    fields.title = { ...field, fieldname: 'title', value: 'La Joconde' }
    fields.note = { ...field, fieldname: 'note', value: 'seen planted-4x9' }
    done(null, fields)
  })
  app.post('/', async () => 'ok')
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  const profile = await profileOf(app, { method: 'POST', url: '/', headers, payload: 'x' })
  t.notMatch(JSON.stringify(profile), 'planted-4x9')
  t.match(profile.request.body, {
    password: { value: masked, fields: '[circular]' },
    title: { type: 'field', fieldname: 'title', mimetype: 'text/plain', value: 'La Joconde', fields: '[circular]' },
    note: { value: 'seen [masked]' },
  })
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
  const headers = { 'content-type': 'application/json' }
  const profile = await profileOf(app, { method: 'POST', url: '/', headers, payload })
  t.notMatch(JSON.stringify(profile), /98765432|4111111|w(?:ö|%|\\+u00f6)|ss w/i)
  t.match(profile.exceptions[0]?.message, /^\{"body":.* \| .*visible|masked/)
  t.match(profile.logs[1]?.fields, { number: '[masked]', id: 7 })
  t.match(profile.request.body, { other: 'visible' })
})

t.test('a secret in a URL is masked as it is spelled there, and in messages that repeat it', async t => {
  const app = await profiledApp(t)
  app.get('/params/:token/:id', async () => 'ok')
  app.get('/callback', async (_request, reply) => reply.redirect('/after?code=plantedlocation3xYz&page=2'))
  app.get('/', async ({ headers, log }) => log.info(`from "${headers.referer}"`))
  const params = await profileOf(app, {
    url: '/params/s%65cret-tok%65n-4x2/5?again=s%65cret-tok%65n-%34x2&page=2',
    headers: { referer: 'http://localhost/s%65cret-token-4x2' },
  })
  t.same(
    [params.path, params.url, params.request.query],
    ['/params/[masked]/5', '/params/[masked]/5?again=[masked]&page=2', { again: masked, page: '2' }],
  )
  t.notMatch(JSON.stringify(params), /s(?:e|%65)cret-tok/)
  t.equal((await app.profiler.search({ url: '/params' })).profiles[0]?.url, params.url)
  const headers = { 'x-auth': 'plantedauth4', 'ocp-apim-subscription-key': 'plantedkey5' }
  const answer = await app.inject({
    url: '/callback?code=plantedcode2xYzAbC&state=visible&key3=planted123456',
    headers,
  })
  t.match(answer.headers.location, 'plantedlocation3')
  const callback = await onlyProfile(t, app, '/callback')
  t.equal(callback.url, '/callback?code=[masked]&state=visible&key3=[masked]')
  t.notMatch(JSON.stringify(callback), 'planted')
  for (const referer of ['http://localhost/x?code=Mb6Nc3Xz8Lk1Qw', '/cb?code=Mb6Nc3Xz8Lk1Qw&state=s']) {
    t.notMatch(JSON.stringify(await profileOf(app, { url: '/?page=1', headers: { referer } })), 'Mb6Nc3Xz8Lk1Qw')
  }
})

t.test('secrets are masked whole, however long, and very short ones are not', async t => {
  const app = await profiledApp(t, { secrets: ['abc', 'standing'] })
  const long = `${'long '.repeat(30)}end`
  const huge = `${'huge '.repeat(2000)}end`
  app.post('/', async ({ log }) => {
    for (const text of [`a ${long} b ${long} c`, `a ${huge} b`, `${'x'.repeat(15_990)}${long}`, 'abc is standing']) {
      log.info(text)
    }
    return 'ok'
  })
  const { logs } = await profileOf(app, { method: 'POST', url: '/', payload: { passwords: [long, huge] } })
  const messages = logs.slice(1, 5).map(({ message }) => message)
  t.match(messages, ['a [masked] b [masked] c', 'a [masked]', /^x{4000}… \(\d+ characters\)$/, 'abc is [masked]'])
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
  const concealed = await profileOf(app, { method: 'POST', url: '/', payload: { password: 'plantedlast9' } })
  const found = concealed.dropped.find(({ what }) => what === 'secrets')
  t.match(found, { count: 101 })
  t.match(concealed, { status: 200, logs: [{}, { message: '[left out]' }] })
  const tokens = Array.from({ length: 1100 }, (_, index) => `planted${index}`)
  const learned = await profileOf(app, { method: 'POST', url: '/tokens', payload: { tokens } })
  t.notMatch(JSON.stringify(learned), 'planted')
  t.match(learned.dropped, [{ what: 'secrets', count: 100 }])
})

t.test('texts beyond their bound are left out, with a note', async t => {
  const app = await profiledApp(t, {
    profileBounds: { texts: 5000 },
    panels: [{ name: 'long', label: 'Long', collect: () => ['y'.repeat(3000), 'last one'], view: () => [] }],
  })
  app.post('/', async () => 'ok')
  const { panels, dropped } = await profileOf(app, { method: 'POST', url: '/', payload: { long: 'x'.repeat(3000) } })
  t.same(panels, { long: ['[left out]', '[left out]'] })
  t.match(dropped, [{ what: 'texts' }])
})

t.test('the number of values learned is bounded, and texts with unlearned ones are not shown', async t => {
  const app: FastifyInstance = await profiledApp(t)
  app.post('/', async request => {
    throw new Error(String(JSON.stringify(request.body)).slice(0, 20_000))
  })
  const rows = Array.from({ length: 100 }, () => Array(1100).fill({}))
  const wide = JSON.stringify([...rows, { password: 'plantedlast' }, 'seen plantedlast'])
  const deep = `${'{"a":'.repeat(200)}{"password":"planted"}${'}'.repeat(200)}`
  const headers = { 'content-type': 'application/json' }
  for (const [payload, count] of [
    [wide, Number],
    [deep, 1],
  ] as const) {
    const profile = await profileOf(app, { method: 'POST', url: '/', headers, payload })
    t.notMatch(JSON.stringify(profile), 'planted')
    const found = profile.dropped.find(({ what }) => what === 'values that may be secrets')
    t.match(found, { count })
  }
})
