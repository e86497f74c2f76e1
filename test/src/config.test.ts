import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Config, readConfig } from '../../src/config.ts'
import { StartError } from '../../src/errors/start-error.ts'

const secret = 'a-secret-that-is-long-enough-for-a-cookie'
const otherSecret = 'another-secret-that-is-long-enough-as-well'

/** The one-line message with which a configuration is rejected. */
function refusal(t: Test, environment: NodeJS.ProcessEnv, envFile?: string): string {
  try {
    readConfig(environment, envFile)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    t.notMatch(error.message, /[\r\n]/, 'the message is one line')
    return error.message
  }
  t.fail('was accepted')
  return ''
}

const defaults: Config = {
  port: 3000,
  host: '127.0.0.1',
  metricsPort: undefined,
  metricsHost: '127.0.0.1',
  databaseUrl: undefined,
  dataDir: './data',
  production: false,
  debug: false,
  debugAllow: [],
  editorUrl: undefined,
  logLevel: 'info',
  trustProxy: [],
  cookieSecrets: [],
  defaultLocale: 'en',
}

/** A value of each variable, and what the configuration has of it. */
const valid: Record<string, [value: string, config: Partial<Config>]> = {
  PORT: ['8080', { port: 8080 }],
  HOST: ['::', { host: '::' }],
  METRICS_PORT: ['9464', { metricsPort: 9464 }],
  METRICS_HOST: ['192.0.2.1', { metricsHost: '192.0.2.1' }],
  DATABASE_URL: ['postgresql://a:b@db.test:5433/c?d=e', { databaseUrl: 'postgresql://a:b@db.test:5433/c?d=e' }],
  DATA_DIR: ['/srv/portico data', { dataDir: '/srv/portico data' }],
  DEBUG: ['1', { debug: true }],
  DEBUG_ALLOW: ['192.0.2.0/24', { debugAllow: ['192.0.2.0/24'] }],
  EDITOR_URL: ['vscode://{file}:{line}:{column}', { editorUrl: 'vscode://{file}:{line}:{column}' }],
  LOG_LEVEL: ['trace', { logLevel: 'trace' }],
  TRUST_PROXY: ['loopback, 10.0.0.1,2001:db8::/32', { trustProxy: ['loopback', '10.0.0.1', '2001:db8::/32'] }],
  COOKIE_SECRET: [`${secret}, ${otherSecret}`, { cookieSecrets: [secret, otherSecret] }],
  DEFAULT_LOCALE: ['pt-BR', { defaultLocale: 'pt-BR' }],
}

t.test('An empty environment gives the defaults', async t => {
  t.strictSame(readConfig({}), defaults)
})

for (const [name, [value, config]] of Object.entries(valid)) {
  t.test(`${name} is read, and counts as unset if it is empty`, async t => {
    t.strictSame(readConfig({ [name]: value }), { ...defaults, ...config })
    t.strictSame(readConfig({ [name]: '' }), defaults)
  })
}

t.test('A list of nothing but commas is empty', async t => {
  t.strictSame(readConfig({ TRUST_PROXY: ' , ,', DEBUG_ALLOW: ',', COOKIE_SECRET: ',,' }), defaults)
})

t.test('Port 0 lets the system choose, for the metrics, too', async t => {
  t.match(readConfig({ PORT: '0', METRICS_PORT: '0' }), { port: 0, metricsPort: 0 })
})

for (const environment of [
  { PORT: '8080', METRICS_PORT: '8080' },
  { METRICS_PORT: '3000' },
  { PORT: '8080', METRICS_PORT: '08080' },
  { PORT: '8080', HOST: '192.0.2.1', METRICS_PORT: '8080' },
]) {
  t.test(`The metrics port may not be the port: ${JSON.stringify(environment)}`, async t => {
    t.equal(refusal(t, environment), 'METRICS_PORT must differ from PORT.')
  })
}

const addresses = 'a comma-separated list of IP addresses, CIDR ranges, loopback, linklocal or uniquelocal'
const expectations: Record<string, string> = {
  PORT: 'a port number from 0 to 65535',
  HOST: 'a host name or an IP address',
  METRICS_PORT: 'a port number from 0 to 65535',
  METRICS_HOST: 'a host name or an IP address',
  DATABASE_URL: 'embedded, or a valid URL that begins with postgres:// or postgresql://',
  DATA_DIR: 'the path of a folder',
  DEBUG: '0 or 1',
  DEBUG_ALLOW: 'a comma-separated list of IP addresses and CIDR ranges',
  EDITOR_URL: 'a URL that contains {file}, and optionally {line} and {column}',
  LOG_LEVEL: 'one of trace, debug, info, warn, error, fatal, silent',
  TRUST_PROXY: addresses,
  COOKIE_SECRET: 'a comma-separated list of secrets with at least 32 characters each',
  DEFAULT_LOCALE: 'a language tag such as en or pt-BR',
}
const wrongPorts = ['65536', '-1', '1.5', '0x50', ' 80', '٣٠٠٠', 'http', '3000\n', '9'.repeat(20_000)]
const wrongHosts = ['a b', 'http://museum.test', '127.0.0.1/8', 'a\nb']
const wrong: Record<string, string[]> = {
  PORT: wrongPorts,
  HOST: wrongHosts,
  METRICS_PORT: wrongPorts,
  METRICS_HOST: wrongHosts,
  DATABASE_URL: [
    ...['museum', 'Embedded', 'mysql://root:hunter2@db.test/portico', 'postgres:db.test'],
    ...['postgres://a:hunter2@d b/portico', 'postgres://a:hunter2@db.test:99999/portico'],
  ],
  DATA_DIR: ['a\0b', 'a\nb', 'a\u001b[2Jb'],
  DEBUG: ['true', '2', ' 1'],
  EDITOR_URL: ['vscode', '{line}'],
  DEBUG_ALLOW: ['loopback', '*', '256.0.0.1', '10.0.0.0/33', '10.0.0.1 10.0.0.2', '127.1', '__proto__'],
  LOG_LEVEL: ['verbose', 'INFO', 'constructor'],
  TRUST_PROXY: ['true', '1', '10.0.0.0/-1', 'toString'],
  COOKIE_SECRET: ['hunter2', 'x'.repeat(31), `${secret},hunter2`, `${' '.repeat(31)}x`],
  DEFAULT_LOCALE: ['en_US', '*', 'de,en', 'a'.repeat(20_000), 'en\n'],
}

for (const [name, values] of Object.entries(wrong)) {
  for (const value of values) {
    t.test(`${name}=${JSON.stringify(value.slice(0, 60))} is rejected in a line that names it, and not it`, async t => {
      const message = refusal(t, { [name]: value })
      t.equal(message, `${name} must be ${expectations[name]}.`)
      t.notMatch(message, /hunter2/)
    })
  }
}

t.test('The first invalid variable is the one that is named', async t => {
  t.match(refusal(t, { LOG_LEVEL: 'loud', PORT: 'x' }), /^PORT /)
})

/** A folder's .env file with this text. */
function envFile(t: Test, text: string | Buffer): string {
  return join(t.testdir({ '.env': text }), '.env')
}

t.test('Variables of the .env file are read', async t => {
  const text = '# The museum\nPORT=8080\nexport HOST=0.0.0.0\nDATA_DIR="/srv/portico data" # quoted\n\nUNKNOWN=1\n'
  t.strictSame(readConfig({}, envFile(t, text)), {
    ...defaults,
    port: 8080,
    host: '0.0.0.0',
    dataDir: '/srv/portico data',
  })
})

t.test('The environment overrides the .env file, which may then be wrong', async t => {
  t.match(readConfig({ PORT: '9090' }, envFile(t, 'PORT=wrong\nLOG_LEVEL=warn\n')), { port: 9090, logLevel: 'warn' })
})

t.test('An invalid variable of the .env file is named', async t => {
  t.equal(
    refusal(t, {}, envFile(t, 'DATABASE_URL=mysql://root:hunter2@db.test\n')),
    `DATABASE_URL must be ${expectations['DATABASE_URL']}.`,
  )
})

t.test('A variable that the .env file sets twice is named', async t => {
  const path = envFile(t, 'PORT=1\n# PORT=2\nHOST=::1\nexport PORT = 3\n')
  t.equal(refusal(t, {}, path), `${path} sets PORT twice.`)
})

t.test('A .env file that is missing or not text changes nothing', async t => {
  t.strictSame(readConfig({}, join(t.testdir(), '.env')), defaults)
  t.strictSame(readConfig({}, envFile(t, Buffer.from([0xff, 0xfe, 0, 0x80, 0x0a, 0x3d, 0x0a]))), defaults)
})

t.test('A .env file that cannot be read is named', async t => {
  const path = join(t.testdir({ '.env': {} }), '.env')
  t.equal(refusal(t, {}, path), `${path} cannot be read.`)
})

const production = { NODE_ENV: 'production', COOKIE_SECRET: secret, DATABASE_URL: 'embedded' }

t.test('Production needs a cookie secret', async t => {
  const sentence = `COOKIE_SECRET must be set if NODE_ENV is production: ${expectations['COOKIE_SECRET']}.`
  t.equal(refusal(t, { NODE_ENV: 'production' }), sentence)
  t.equal(refusal(t, { NODE_ENV: 'production', COOKIE_SECRET: ',' }), sentence)
  t.equal(refusal(t, {}, envFile(t, 'NODE_ENV=production\n')), sentence)
  t.strictSame(readConfig(production), { ...defaults, production: true, cookieSecrets: [secret] })
})

t.test('Production needs a database that was chosen', async t => {
  t.equal(
    refusal(t, { ...production, DATABASE_URL: '' }),
    `DATABASE_URL must be set if NODE_ENV is production: ${expectations['DATABASE_URL']}.`,
  )
  t.match(readConfig({ ...production, ...{ DATABASE_URL: 'postgres://db.test/a' } }), {
    databaseUrl: 'postgres://db.test/a',
  })
})

t.test('Production shows diagnostics only to the addresses of DEBUG_ALLOW', async t => {
  t.equal(
    refusal(t, { ...production, DEBUG: '1' }),
    'DEBUG must be 0 if NODE_ENV is production, unless DEBUG_ALLOW names who may see diagnostics.',
  )
  t.match(readConfig({ ...production, DEBUG: '1', DEBUG_ALLOW: '192.0.2.1' }), {
    debug: true,
    debugAllow: ['192.0.2.1'],
  })
})

t.test('Production may be written in any case and with spaces', async t => {
  for (const NODE_ENV of ['Production', 'PRODUCTION', ' production ']) {
    t.match(refusal(t, { NODE_ENV }), /^COOKIE_SECRET must be set/)
    t.match(refusal(t, { NODE_ENV, COOKIE_SECRET: secret, DEBUG: '1', DEBUG_ALLOW: ' , ' }), /^DEBUG must be 0/)
  }
})

t.test('Another NODE_ENV is not production', async t => {
  t.strictSame(readConfig({ NODE_ENV: 'productive' }), defaults)
  t.strictSame(readConfig({ NODE_ENV: '' }), defaults)
})
