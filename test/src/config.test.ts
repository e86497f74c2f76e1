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

t.test('An empty environment gives the defaults', async t => {
  t.strictSame(readConfig({}), {
    port: 3000,
    host: '127.0.0.1',
    metricsPort: undefined,
    metricsHost: '127.0.0.1',
    databaseUrl: undefined,
    dataDir: './data',
    debug: false,
    debugAllow: [],
    editorUrl: undefined,
    logLevel: 'info',
    trustProxy: [],
    cookieSecrets: [],
    defaultLocale: 'en',
  } satisfies Config)
})

t.test('Each variable is read', async t => {
  const environment = {
    PORT: '8080',
    HOST: '::',
    METRICS_PORT: '9464',
    METRICS_HOST: '192.0.2.1',
    DATABASE_URL: 'postgresql://portico:s3cret@db.test:5433/portico?application_name=a',
    DATA_DIR: '/srv/portico data',
    DEBUG: '1',
    DEBUG_ALLOW: '192.0.2.0/24',
    EDITOR_URL: 'vscode://file/{file}:{line}:{column}',
    LOG_LEVEL: 'trace',
    TRUST_PROXY: 'loopback, 10.0.0.1,2001:db8::/32',
    COOKIE_SECRET: `${secret}, ${otherSecret}`,
    DEFAULT_LOCALE: 'pt-BR',
  }
  t.strictSame(readConfig(environment), {
    port: 8080,
    host: '::',
    metricsPort: 9464,
    metricsHost: '192.0.2.1',
    databaseUrl: 'postgresql://portico:s3cret@db.test:5433/portico?application_name=a',
    dataDir: '/srv/portico data',
    debug: true,
    debugAllow: ['192.0.2.0/24'],
    editorUrl: 'vscode://file/{file}:{line}:{column}',
    logLevel: 'trace',
    trustProxy: ['loopback', '10.0.0.1', '2001:db8::/32'],
    cookieSecrets: [secret, otherSecret],
    defaultLocale: 'pt-BR',
  } satisfies Config)
})

t.test('An empty value counts as unset', async t => {
  const empty = Object.fromEntries(
    [
      'PORT',
      'HOST',
      'METRICS_PORT',
      'METRICS_HOST',
      'DATABASE_URL',
      'DATA_DIR',
      'DEBUG',
      'DEBUG_ALLOW',
      'EDITOR_URL',
      'LOG_LEVEL',
      'TRUST_PROXY',
      'COOKIE_SECRET',
      'DEFAULT_LOCALE',
      'NODE_ENV',
    ].map(name => [name, '']),
  )
  t.strictSame(readConfig(empty), readConfig({}))
})

t.test('A list of nothing but commas is empty', async t => {
  t.match(readConfig({ TRUST_PROXY: ' , ,', DEBUG_ALLOW: ',', COOKIE_SECRET: ',,' }), {
    trustProxy: [],
    debugAllow: [],
    cookieSecrets: [],
  })
})

t.test('Port 0 lets the system choose', async t => {
  t.equal(readConfig({ PORT: '0' }).port, 0)
})

t.test('Metrics port 0 lets the system choose, even beside port 0', async t => {
  t.match(readConfig({ PORT: '0', METRICS_PORT: '0' }), { port: 0, metricsPort: 0 })
})

for (const [title, environment] of Object.entries({
  'The metrics port may not be the port': { PORT: '8080', METRICS_PORT: '8080' },
  'The metrics port may not be the default port': { METRICS_PORT: '3000' },
  'The metrics port may not be the port in another spelling': { PORT: '8080', METRICS_PORT: '08080' },
  'The metrics port may not be the port even on another address': {
    PORT: '8080',
    HOST: '192.0.2.1',
    METRICS_PORT: '8080',
  },
})) {
  t.test(title, async t => {
    t.equal(refusal(t, environment), 'METRICS_PORT must differ from PORT.')
  })
}

const addresses = 'a comma-separated list of IP addresses, CIDR ranges, loopback, linklocal or uniquelocal'
const expectations: Record<string, string> = {
  PORT: 'a port number from 0 to 65535',
  HOST: 'a host name or an IP address',
  METRICS_PORT: 'a port number from 0 to 65535',
  METRICS_HOST: 'a host name or an IP address',
  DATABASE_URL: 'a valid URL that begins with postgres:// or postgresql://',
  DATA_DIR: 'the path of a folder',
  DEBUG: '0 or 1',
  DEBUG_ALLOW: 'a comma-separated list of IP addresses and CIDR ranges',
  EDITOR_URL: 'a URL that contains {file}, and optionally {line} and {column}',
  LOG_LEVEL: 'one of trace, debug, info, warn, error, fatal, silent',
  TRUST_PROXY: addresses,
  COOKIE_SECRET: 'a comma-separated list of secrets with at least 32 characters each',
  DEFAULT_LOCALE: 'a language tag such as en or pt-BR',
}
const wrongPorts = [
  '65536',
  '99999',
  '100000',
  '-1',
  '+1',
  '1.5',
  '1e3',
  '0x50',
  ' 80',
  '80 ',
  '٣٠٠٠',
  'http',
  'NaN',
  '3000\n',
  '9'.repeat(20_000),
]
const wrongHosts = ['a b', ' ', 'http://museum.test', '127.0.0.1/8', 'a\nb']
const wrong: Record<string, string[]> = {
  PORT: wrongPorts,
  HOST: wrongHosts,
  METRICS_PORT: wrongPorts,
  METRICS_HOST: wrongHosts,
  DATABASE_URL: [
    'museum',
    'mysql://root:hunter2@db.test/portico',
    ' postgres://db.test',
    'postgres:db.test',
    'POSTGRES://db.test',
    'postgres://a:hunter2@d b/portico',
    'postgres://a:hunter2@db.test:99999/portico',
    'postgres://a:hunter2/x@db.test',
    'postgres://[::1/portico',
  ],
  DATA_DIR: ['a\0b', 'a\nb', '\r', 'a\u001b[2Jb'],
  DEBUG: ['true', 'yes', '2', '01', ' 1', 'express:*'],
  EDITOR_URL: ['vscode', 'vscode://file/', '{line}'],
  DEBUG_ALLOW: [
    'loopback',
    'all',
    '*',
    '256.0.0.1',
    '10.0.0.0/33',
    '10.0.0.1 10.0.0.2',
    'museum.test',
    '::1/129',
    '10.0.0.1,x',
    '127.1',
    '0x7f000001',
    'constructor',
    '__proto__',
  ],
  LOG_LEVEL: ['verbose', 'INFO', 'info ', '30', 'constructor'],
  TRUST_PROXY: ['true', '1', '10.0.0.0/', '10.0.0.0/-1', '::/x', 'loopback;linklocal', 'toString'],
  COOKIE_SECRET: ['hunter2', 'x'.repeat(31), `${secret},hunter2`, `${' '.repeat(31)}x`],
  DEFAULT_LOCALE: ['english language', 'en_US', 'x', 'en-', '-', '*', 'de,en', 'a'.repeat(20_000), 'en\n'],
}

for (const [name, values] of Object.entries(wrong)) {
  for (const value of values) {
    t.test(`${name}=${JSON.stringify(value.slice(0, 60))} is rejected in a line that names it`, async t => {
      t.equal(refusal(t, { [name]: value }), `${name} must be ${expectations[name]}.`)
    })
  }
}

t.test('Secrets in invalid variables are not echoed', async t => {
  for (const name of ['DATABASE_URL', 'COOKIE_SECRET']) {
    for (const value of wrong[name] ?? []) t.notMatch(refusal(t, { [name]: value }), /hunter2/)
  }
})

t.test('The first invalid variable is the one that is named', async t => {
  t.match(refusal(t, { LOG_LEVEL: 'loud', PORT: 'x' }), /^PORT /)
})

t.test('Variables of the .env file are read', async t => {
  const folder = t.testdir({
    '.env': '# The museum\nPORT=8080\nexport HOST=0.0.0.0\nDATA_DIR="/srv/portico data" # quoted\n\nUNKNOWN=1\n',
  })
  t.match(readConfig({}, join(folder, '.env')), {
    port: 8080,
    host: '0.0.0.0',
    dataDir: '/srv/portico data',
    logLevel: 'info',
  })
})

t.test('The environment overrides the .env file', async t => {
  const folder = t.testdir({ '.env': 'PORT=8080\nLOG_LEVEL=warn\n' })
  t.match(readConfig({ PORT: '9090' }, join(folder, '.env')), { port: 9090, logLevel: 'warn' })
})

t.test('An overridden variable of the .env file may be invalid', async t => {
  const folder = t.testdir({ '.env': 'PORT=wrong\n' })
  t.equal(readConfig({ PORT: '9090' }, join(folder, '.env')).port, 9090)
})

t.test('An invalid variable of the .env file is named', async t => {
  const folder = t.testdir({ '.env': 'DATABASE_URL=mysql://root:hunter2@db.test\n' })
  t.equal(refusal(t, {}, join(folder, '.env')), `DATABASE_URL must be ${expectations['DATABASE_URL']}.`)
})

t.test('A missing .env file changes nothing', async t => {
  t.strictSame(readConfig({}, join(t.testdir(), '.env')), readConfig({}))
})

t.test('A .env file that is not text changes nothing', async t => {
  const folder = t.testdir({ '.env': Buffer.from([0xff, 0xfe, 0, 0x80, 0x0a, 0x3d, 0x0a]) })
  t.strictSame(readConfig({}, join(folder, '.env')), readConfig({}))
})

t.test('A .env file that cannot be read is named', async t => {
  const path = join(t.testdir({ '.env': {} }), '.env')
  t.equal(refusal(t, {}, path), `${path} cannot be read.`)
})

t.test('Production needs a cookie secret', async t => {
  t.equal(
    refusal(t, { NODE_ENV: 'production' }),
    `COOKIE_SECRET must be set if NODE_ENV is production: ${expectations['COOKIE_SECRET']}.`,
  )
})

t.test('An empty list of cookie secrets is not enough for production', async t => {
  t.match(refusal(t, { NODE_ENV: 'production', COOKIE_SECRET: ',' }), /^COOKIE_SECRET must be set/)
})

t.test('Production starts with a cookie secret', async t => {
  t.match(readConfig({ NODE_ENV: 'production', COOKIE_SECRET: secret }), { cookieSecrets: [secret], debug: false })
})

t.test('Production refuses diagnostics unless DEBUG_ALLOW names addresses', async t => {
  t.equal(
    refusal(t, { NODE_ENV: 'production', COOKIE_SECRET: secret, DEBUG: '1' }),
    'DEBUG must be 0 if NODE_ENV is production, unless DEBUG_ALLOW names who may see diagnostics.',
  )
})

t.test('Production shows diagnostics to the addresses of DEBUG_ALLOW', async t => {
  t.match(readConfig({ NODE_ENV: 'production', COOKIE_SECRET: secret, DEBUG: '1', DEBUG_ALLOW: '192.0.2.1' }), {
    debug: true,
    debugAllow: ['192.0.2.1'],
  })
})

t.test('NODE_ENV in the .env file counts', async t => {
  const folder = t.testdir({ '.env': 'NODE_ENV=production\n' })
  t.match(refusal(t, {}, join(folder, '.env')), /^COOKIE_SECRET must be set/)
})

t.test('Another NODE_ENV is not production', async t => {
  t.strictSame(readConfig({ NODE_ENV: 'Production' }), readConfig({}))
})
