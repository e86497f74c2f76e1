import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { parseEnv } from 'node:util'
import proxyAddr from '@fastify/proxy-addr'
import { StartError } from './errors/start-error.ts'

export interface Config {
  /** The port to listen on. 0 lets the system choose. */
  port: number
  host: string
  /** The port of the metrics, or undefined for none. 0 lets the system choose. */
  metricsPort: number | undefined
  metricsHost: string
  /** A postgres:// URL, or undefined for PGlite in dataDir. */
  databaseUrl: string | undefined
  dataDir: string
  production: boolean
  /** Whether diagnostics are shown to clients in debugAllow, and outside of production to those on this machine. */
  debug: boolean
  debugAllow: string[]
  /** A URL template that turns file names into links: vscode://file/{file}:{line}:{column}. */
  editorUrl: string | undefined
  logLevel: string
  /** The addresses of proxies whose forwarded headers are trusted. */
  trustProxy: string[]
  /** The first secret signs cookies, all of them verify. Empty for a random secret at each start. */
  cookieSecrets: string[]
  /** A BCP 47 language tag. */
  defaultLocale: string
}

interface Variable {
  default: string
  accepts: (value: string) => boolean
  /** Completes the sentence "<NAME> must be …". */
  expects: string
}

const addresses = 'a comma-separated list of IP addresses, CIDR ranges, loopback, linklocal or uniquelocal'
const rangeNames = ['loopback', 'linklocal', 'uniquelocal']
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

const port = {
  accepts: (value: string) => /^\d{1,5}$/.test(value) && Number(value) <= 65535,
  expects: 'a port number from 0 to 65535',
}
const host = { accepts: (value: string) => /^[^\s/]+$/.test(value), expects: 'a host name or an IP address' }

const variables = {
  PORT: { default: '3000', ...port },
  HOST: { default: '127.0.0.1', ...host },
  METRICS_PORT: { default: '', ...port },
  METRICS_HOST: { default: '127.0.0.1', ...host },
  DATABASE_URL: {
    default: '',
    accepts: value => value === 'embedded' || isPostgresUrl(value),
    expects: 'embedded, or a valid URL that begins with postgres:// or postgresql://',
  },
  DATA_DIR: { default: './data', accepts: value => !/\p{Cc}/u.test(value), expects: 'the path of a folder' },
  DEBUG: { default: '0', accepts: value => value === '0' || value === '1', expects: '0 or 1' },
  DEBUG_ALLOW: { default: '', accepts: areNetworks, expects: 'a comma-separated list of IP addresses and CIDR ranges' },
  EDITOR_URL: {
    default: '',
    accepts: value => value.includes('{file}'),
    expects: 'a URL that contains {file}, and optionally {line} and {column}',
  },
  LOG_LEVEL: {
    default: 'info',
    accepts: value => logLevels.includes(value),
    expects: `one of ${logLevels.join(', ')}`,
  },
  TRUST_PROXY: { default: '', accepts: areAddresses, expects: addresses },
  COOKIE_SECRET: {
    default: '',
    accepts: value => listOf(value).every(secret => secret.length >= 32),
    expects: 'a comma-separated list of secrets with at least 32 characters each',
  },
  DEFAULT_LOCALE: { default: 'en', accepts: isLanguageTag, expects: 'a language tag such as en or pt-BR' },
  NODE_ENV: { default: '', accepts: () => true, expects: '' },
} satisfies Record<string, Variable>

/** The names that no application may give to a setting of its own. */
export const variableNames: readonly string[] = Object.keys(variables)

/**
 * Reads and validates the configuration.
 * @param environment the environment variables. Empty values count as unset.
 * @param envFile a file of NAME=value lines. It may be missing, and the environment overrides it.
 * @throws {StartError} if a variable is invalid. The message leaves out the value, which may be a secret.
 */
export function readConfig(environment: NodeJS.ProcessEnv, envFile?: string): Config {
  const fromFile = readEnvFile(envFile)

  function read(name: keyof typeof variables): string {
    const value = environment[name] || fromFile[name]
    if (!value) return variables[name].default
    if (!variables[name].accepts(value)) throw new StartError(`${name} must be ${variables[name].expects}.`)
    return value
  }

  const databaseUrl = read('DATABASE_URL')
  const metricsPort = read('METRICS_PORT')
  const config: Config = {
    port: Number(read('PORT')),
    host: read('HOST'),
    metricsPort: metricsPort === '' ? undefined : Number(metricsPort),
    metricsHost: read('METRICS_HOST'),
    databaseUrl: databaseUrl === 'embedded' ? undefined : databaseUrl || undefined,
    dataDir: read('DATA_DIR'),
    production: read('NODE_ENV').trim().toLowerCase() === 'production',
    debug: read('DEBUG') === '1',
    debugAllow: listOf(read('DEBUG_ALLOW')),
    editorUrl: read('EDITOR_URL') || undefined,
    logLevel: read('LOG_LEVEL'),
    trustProxy: listOf(read('TRUST_PROXY')),
    cookieSecrets: listOf(read('COOKIE_SECRET')),
    defaultLocale: read('DEFAULT_LOCALE'),
  }
  // On any address: a scraper with the wrong host must not reach a site.
  if (config.metricsPort === config.port && config.port !== 0) {
    throw new StartError('METRICS_PORT must differ from PORT.')
  }
  if (config.production) assertFitForProduction(config, databaseUrl)
  return config
}

/** All variables, from which an application reads its own settings. The parameters are those of readConfig(). */
export function readVariables(environment: NodeJS.ProcessEnv, envFile?: string): NodeJS.ProcessEnv {
  const set = Object.entries(environment).filter(([, value]) => value)
  return { ...readEnvFile(envFile), ...Object.fromEntries(set) }
}

function assertFitForProduction(config: Config, databaseUrl: string): void {
  if (config.cookieSecrets.length === 0) {
    throw new StartError(`COOKIE_SECRET must be set if NODE_ENV is production: ${variables.COOKIE_SECRET.expects}.`)
  }
  if (config.debug && config.debugAllow.length === 0) {
    throw new StartError('DEBUG must be 0 if NODE_ENV is production, unless DEBUG_ALLOW names who may see diagnostics.')
  }
  // Or else a mistyped name of the variable would mean a new, empty database.
  if (databaseUrl === '') {
    throw new StartError(`DATABASE_URL must be set if NODE_ENV is production: ${variables.DATABASE_URL.expects}.`)
  }
}

function readEnvFile(path: string | undefined): NodeJS.ProcessEnv {
  if (path === undefined || !existsSync(path)) return {}
  const text = readText(path)
  const names = [...text.matchAll(/^\s*(?:export\s+)?(\w+)\s*=/gm)].map(([, name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new StartError(`${path} sets ${twice} twice.`)
  return parseEnv(text)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new StartError(`${path} cannot be read.`, { cause: error })
  }
}

function listOf(value: string): string[] {
  return value
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}

export function isPostgresUrl(value: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(value) && URL.canParse(value)
}

function areAddresses(value: string): boolean {
  return areNetworks(
    listOf(value)
      .filter(item => !rangeNames.includes(item))
      .join(),
  )
}

function areNetworks(value: string): boolean {
  try {
    proxyAddr.compile(listOf(value))
    // proxy-addr also accepts numbers: 1 would mean 0.0.0.1, and not one proxy.
    return listOf(value).every(item => isIP(item.replace(/\/.*/, '')) !== 0)
  } catch {
    return false
  }
}

function isLanguageTag(value: string): boolean {
  try {
    return Intl.getCanonicalLocales(value).length === 1
  } catch {
    return false
  }
}
