import type { ProfileBounds } from './bounds.ts'
import type { HeaderLine, Json } from './profile.ts'

/** What stands in place of a secret. */
export const masked = '[masked]'

const sensitive = new RegExp([
  'pass(?:word|wd|phrase|code)?$', 'password', 'passwd', 'passphrase', 'pwd', 'secret', 'token', 'authorization',
  '^auth$', 'credential', 'cookie', 'session', '^sid$', 'csrf', 'xsrf', 'signature', '^sig$', '^hmac', 'otp$', '^pin$',
  'cvv', 'cvc', 'creditcard', 'cardnumber', 'iban', '^ssn$', 'bearer', 'jwt', '^key$',
  '(?:api|access|private|secret|signing|encryption|master|license|client|account|app|x)keys?$'
].join('|'))

/** Names that sound like secrets and are none. */
const harmless = new Set(['xdebugtoken', 'xdebugtokenlink', 'tokentype'])

const verdicts = new Map<string, boolean>()

/** Whether what stands under this name (a header, a field, a parameter, a variable) is nobody's business. */
export function isSensitiveName (name: string): boolean {
  const known = verdicts.get(name)
  if (known !== undefined) return known
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  const verdict = sensitive.test(plain) && !harmless.has(plain)
  // Names come from requests: what is remembered must not grow with them.
  if (verdicts.size < 1000 && name.length < 100) verdicts.set(name, verdict)
  return verdict
}

/** Shorter ones would be found in every other word. */
const shortestSecret = 6

/** Variables of shells and desktops whose names only sound like secrets: a folder is no password. */
const harmlessVariable = /^(?:OLD)?PWD$|^(?:XDG|DESKTOP|DBUS|GDM)_|_SOCK$/

/** The values of the environment that must never be shown, found by their names and in URLs with a password. */
export function environmentSecrets (environment: Record<string, string | undefined>): string[] {
  const secrets: string[] = []
  for (const [name, value = ''] of Object.entries(environment)) {
    if (isSensitiveName(name) && value.length >= 8 && !harmlessVariable.test(name)) secrets.push(value)
    const password = /^[\w+.-]+:\/\/[^\s:/@]*:([^\s@]+)@/.exec(value)?.[1]
    if (password !== undefined) secrets.push(password)
  }
  return secrets
}

const scheme = /\b(Bearer|Basic|Digest|Negotiate)\s+[\w.~+/=-]{6,}/gi
const webToken = /\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g
const userInfo = /([a-z][\w+.-]*:\/\/[^\s:/@]*:)[^\s@/]+@/gi
const pair = /([\w.[\]-]{2,60})(=|%3D)([^\s&#;"'<>%,)\\]+)/gi
const member = /(\\?["'])([\w.-]{2,60})\1(\s*:\s*)(\\?["'])(.*?)\4/g
const labelled = /\b([\w-]{2,40})(:\s+)([^\s"'&;,]+)/g

/** Secrets that hold for all requests, made ready once. */
export interface StandingSecrets {
  texts: readonly string[]
  pattern: RegExp | null
}

/** Makes secrets ready to be masked in every request. */
export function standingSecrets (secrets: readonly string[]): StandingSecrets {
  const texts = secrets.filter(canBeFound).flatMap(secret => [secret, encode(secret)])
  return { texts, pattern: texts.length === 0 ? null : patternOf(texts) }
}

function canBeFound ({ length }: string): boolean {
  return length >= shortestSecret && length <= 8192
}

/** One pattern of all secrets, the longest first, so that none is masked in part. */
function patternOf (secrets: readonly string[]): RegExp {
  const sorted = [...new Set(secrets)].sort((one, other) => other.length - one.length)
  return new RegExp(sorted.map(secret => secret.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('|'), 'g')
}

/**
 * Masks what one request brought along. Secrets are known by the name they stand under; once known, a
 * secret is masked wherever else it turns up: in a message, a URL, a query's parameters, a panel's data.
 */
export class Mask {
  readonly #bounds: ProfileBounds
  readonly #standing: StandingSecrets
  /** Those of this request. */
  readonly #secrets = new Set<string>()
  #known: RegExp | null
  /** Values left out because a structure held too many of them. */
  dropped = 0

  constructor (bounds: ProfileBounds, secrets: StandingSecrets) {
    this.#bounds = bounds
    this.#standing = secrets
    this.#known = secrets.pattern
  }

  /** From now on this text is masked wherever it stands. */
  learn (secret: string): void {
    if (!canBeFound(secret) || this.#secrets.size >= 500) return
    this.#secrets.add(secret)
    this.#secrets.add(encode(secret))
    this.#known = null
  }

  /** Learns every secret of a structure by the names in it. */
  learnFrom (value: unknown, name = '', depth = 0): void {
    if (depth > this.#bounds.depth) return
    if (typeof value === 'string') {
      if (isSensitiveName(name)) this.learn(value)
      return
    }
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return
    let count = 0
    for (const key of Object.keys(value)) {
      if (++count > this.#bounds.values) return
      this.learnFrom(read(value, key), Array.isArray(value) || isSensitiveName(name) ? name : key, depth + 1)
    }
  }

  /** Learns from raw header lines, from the secrets inside cookies and credentials too. */
  learnFromHeaders (lines: readonly HeaderLine[]): void {
    for (const [name, value] of lines) {
      const lower = name.toLowerCase()
      if (lower === 'cookie') for (const part of value.split(';')) this.#learnCookie(part)
      else if (lower === 'set-cookie') this.#learnCookie(value.replace(/;.*/s, ''))
      else if (lower === 'authorization' || lower === 'proxy-authorization') this.#learnCredentials(value)
      else if (isSensitiveName(name)) this.learn(value)
    }
  }

  /** Learns the secrets among a URL's parameters. */
  learnFromUrl (url: string): void {
    const query = url.indexOf('?')
    if (query === -1) return
    for (const [name, value] of new URLSearchParams(url.slice(query + 1))) {
      if (isSensitiveName(name)) this.learn(value)
    }
  }

  /** A header line without its secrets; cookies keep their names, credentials their scheme. */
  header ([name, value]: HeaderLine): HeaderLine {
    const lower = name.toLowerCase()
    if (lower === 'cookie') return [name, value.split(';').map(maskCookie).join('; ')]
    if (lower === 'set-cookie') {
      const [pair = '', ...attributes] = value.split(';')
      return [name, [maskCookie(pair), ...attributes.map(attribute => attribute.trim())].join('; ')]
    }
    if (lower === 'authorization' || lower === 'proxy-authorization') {
      const word = /^(\S+)\s/.exec(value)?.[1]
      return [name, word === undefined ? masked : `${word} ${masked}`]
    }
    return [name, isSensitiveName(name) ? masked : this.text(value)]
  }

  /** Text without the secrets it contains, cut to what one string may hold. */
  text (text: string): string {
    const limit = this.#bounds.text
    // Masked before it is cut: half a secret would not be recognised.
    let result = this.#hide(text.length > limit * 4 ? text.slice(0, limit * 4) : text)
    if (result.length > limit || text.length > limit * 4) {
      result = `${result.slice(0, limit)}… (${text.length} characters)`
    }
    return result
  }

  /** Anything at all as plain data: masked, bounded, without cycles, whatever its getters do. */
  value (value: unknown, name = ''): Json {
    return this.#plain(value, name, 0, { left: this.#bounds.values })
  }

  /** The same for a structure whose names matter. */
  record (value: unknown): Record<string, Json> {
    const plain = this.value(value)
    return plain !== null && typeof plain === 'object' && !Array.isArray(plain) ? plain : {}
  }

  #hide (text: string): string {
    if (text.length < shortestSecret) return text
    let result = text
    const known = this.#pattern()
    if (known !== null) result = result.replace(known, masked)
    if (result.includes('=') || result.includes('%3')) {
      result = result.replace(pair, (whole, name: string, sign: string) => isSensitiveName(name) ? `${name}${sign}${masked}` : whole)
    }
    if (result.includes(':')) {
      result = result.replace(userInfo, `$1${masked}@`)
      result = result.replace(member, (whole, quote: string, name: string, colon: string, around: string) =>
        isSensitiveName(name) ? `${quote}${name}${quote}${colon}${around}${masked}${around}` : whole)
      result = result.replace(labelled, (whole, name: string, colon: string) => isSensitiveName(name) ? `${name}${colon}${masked}` : whole)
    }
    if (result.includes(' ')) result = result.replace(scheme, `$1 ${masked}`)
    if (result.includes('eyJ')) result = result.replace(webToken, masked)
    return result
  }

  #pattern (): RegExp | null {
    if (this.#known === null && this.#secrets.size > 0) this.#known = patternOf([...this.#standing.texts, ...this.#secrets])
    return this.#known
  }

  #plain (value: unknown, name: string, depth: number, budget: { left: number }): Json {
    if (value === null || value === undefined) return null
    if (isSensitiveName(name) && (typeof value !== 'object')) return masked
    switch (typeof value) {
      case 'string': return this.text(value)
      case 'number': return Number.isFinite(value) ? value : String(value)
      case 'boolean': return value
      case 'bigint': return String(value)
      case 'function': return `[function ${value.name}]`
      case 'symbol': return String(value)
    }
    return this.#plainObject(value, name, depth, budget)
  }

  #plainObject (value: object, name: string, depth: number, budget: { left: number }): Json {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
    if (value instanceof Error) return this.text(`${value.name}: ${value.message}`)
    if (depth >= this.#bounds.depth) {
      this.dropped++
      return Array.isArray(value) ? '[array]' : '[object]'
    }
    if (value instanceof Map) return this.#plain(Object.fromEntries(value), name, depth, budget)
    if (Array.isArray(value) || value instanceof Set) {
      const items: Json[] = []
      for (const item of value) {
        if (!this.#spend(budget)) break
        items.push(this.#plain(item, name, depth + 1, budget))
      }
      return items
    }
    const plain: Record<string, Json> = {}
    for (const key of Object.keys(value)) {
      if (!this.#spend(budget)) break
      const item = read(value, key)
      if (item === undefined) continue
      // Below a sensitive name everything is.
      const within = isSensitiveName(name) ? name : key
      // That one key would not be stored but change the object.
      plain[key === '__proto__' ? '[__proto__]' : this.text(key)] = this.#plain(item, within, depth + 1, budget)
    }
    return plain
  }

  #spend (budget: { left: number }): boolean {
    if (budget.left > 0) {
      budget.left--
      return true
    }
    this.dropped++
    return false
  }

  #learnCookie (pair: string): void {
    const equals = pair.indexOf('=')
    const value = equals === -1 ? pair : pair.slice(equals + 1)
    this.learn(unquote(value.trim()))
    this.learn(decode(unquote(value.trim())))
  }

  #learnCredentials (value: string): void {
    const space = value.indexOf(' ')
    const credentials = value.slice(space + 1).trim()
    this.learn(credentials)
    if (/^basic /i.test(value)) {
      const decoded = Buffer.from(credentials, 'base64').toString()
      this.learn(decoded.slice(decoded.indexOf(':') + 1))
    }
  }
}

function maskCookie (pair: string): string {
  const equals = pair.indexOf('=')
  return equals === -1 ? masked : `${pair.slice(0, equals).trim()}=${masked}`
}

function unquote (text: string): string {
  return text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
}

function encode (text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    // Half a surrogate pair has no encoded form.
    return text
  }
}

function decode (text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function read (value: object, key: string): unknown {
  try {
    return Reflect.get(value, key)
  } catch {
    return '[getter threw]'
  }
}
