import type { ProfileBounds } from './bounds.ts'
import { secretsInCookie, secretsInCredentials } from './carried-secrets.ts'
import { fieldNames, isNamedByTheOneBefore } from './field-names.ts'
import { attempt, nameOfError, read, textOf } from './foreign-value.ts'
import { canBeFound, hideKnown, knownSecrets, longestSearched, masked, type KnownSecrets } from './known-secrets.ts'
import { decode } from './percent-encoding.ts'
import type { HeaderLine, Json } from './profile.ts'
import { findSecrets } from './secret-forms.ts'
import { isSensitiveField, isSensitiveName, isSensitiveParameter } from './sensitive-names.ts'

/** Headers that the profiler itself makes, anew for each answer: nothing in them looks like a secret that is not known. */
const ownHeaders = new Set(['x-debug-token', 'x-debug-token-link'])

/** Stands for a text in which secrets could not be looked for. */
const leftOut = '[left out]'

/** More secrets than a request has use for; with more, none is looked for and all text left out. */
export const secretsLearned = 1000

/** Values of bodies, queries and parameters in all that are looked at for secrets. */
export const valuesLearned = 100_000

/** Deeper than anybody nests, and far from where the stack ends. */
const depthLearned = 100

/** Texts in which nothing looks like a secret: most of what requests carry was in an earlier one, too. */
const plain = new Set<string>()
const plainKept = 2000
const longestPlain = 200

function hideWhatLooksSecret (text: string): string {
  if (plain.has(text)) return text
  const places = findSecrets(text)
  if (places.length === 0) {
    if (text.length <= longestPlain) {
      if (plain.size >= plainKept) plain.clear()
      plain.add(text)
    }
    return text
  }
  let result = ''
  let at = 0
  for (const [from, to] of places) {
    result += text.slice(at, from) + masked
    at = to
  }
  return result + text.slice(at)
}

/**
 * Masks what one request brought along. Secrets are known by the name they stand under; once known, a
 * secret is masked wherever else it turns up: in a message, a URL, a query's parameters, a panel's data.
 */
export class Mask {
  readonly #bounds: ProfileBounds
  /** Those that hold for all requests. */
  readonly #standing: KnownSecrets | null
  /** Those of this request. */
  readonly #secrets = new Set<string>()
  #known: KnownSecrets | null = null
  #isKnownCurrent = true
  #hasNumbers = false
  #valuesLeft = valuesLearned
  #textLeft: number
  readonly #seen: ReadonlyArray<Set<object>> = [new Set(), new Set()]
  /** Values left out because a structure held too many of them. */
  dropped = 0
  /** Texts left out because there were too many to look for secrets in. */
  droppedTexts = 0
  /** Secrets that are not looked for, because there were too many. */
  droppedSecrets = 0
  /** Values in which no secrets were looked for, because there were too many. */
  droppedLessons = 0

  constructor (bounds: ProfileBounds, secrets: KnownSecrets | null) {
    this.#bounds = bounds
    this.#standing = secrets
    this.#textLeft = bounds.texts
  }

  /** From now on this text is masked wherever it stands. */
  learn (secret: string): void {
    if (!canBeFound(secret) || this.#secrets.has(secret)) return
    if (this.#secrets.size >= secretsLearned) {
      this.droppedSecrets++
      return
    }
    this.#secrets.add(secret)
    this.#isKnownCurrent = false
  }

  /** Learns every secret of a structure by the names in it. */
  learnFrom (value: unknown): void {
    attempt(() => this.#learnFrom(value, '', 0), undefined)
  }

  /** Learns from raw header lines, from the secrets inside cookies and credentials too. */
  learnFromHeaders (lines: readonly HeaderLine[]): void {
    for (const [name, value] of lines) {
      const lower = name.toLowerCase()
      if (lower === 'cookie') for (const part of value.split(';')) this.#learnCookie(part)
      else if (lower === 'set-cookie') this.#learnCookie(value.replace(/;.*/s, ''))
      else if (lower === 'authorization' || lower === 'proxy-authorization') this.#learnCredentials(value)
      else if (lower === 'referer' || lower === 'location') this.learnFromUrl(value)
      else if (isSensitiveName(name)) this.learn(value)
    }
  }

  /** Learns the secrets among a URL's parameters. */
  learnFromUrl (url: string): void {
    for (const part of url.split(/[?#]/).slice(1)) {
      for (const [name, value] of new URLSearchParams(part)) {
        if (isSensitiveParameter(name, value)) this.learn(value)
      }
    }
  }

  /** Learns how the secrets that are known by now are spelled in a URL: any letter of it may be encoded. */
  learnSpellings (url: string): void {
    if (this.#secrets.size === 0 || !/[%+]/.test(url)) return
    for (const part of url.split(/[/?&=#;]/)) {
      const decoded = decode(part.replaceAll('+', ' '))
      if (decoded !== part && this.#hideKnown(decoded) !== decoded) this.learn(part)
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

  /** The same for a line of the answer, where some are the profiler's own. */
  responseHeader (line: HeaderLine, token: string): HeaderLine {
    const [name, value] = line
    const isOwn = ownHeaders.has(name) || (name === 'server-timing' && value.startsWith(`token;desc="${token}"`))
    return isOwn ? [name, this.#hideKnown(value)] : this.header(line)
  }

  /** Text without the secrets it contains, cut to what one string may hold. */
  text (text: string): string {
    const limit = this.#bounds.text
    const window = limit * 4
    const isLong = text.length > window
    // Masked before it is cut: half a secret would not be recognised.
    const hidden = this.#hide(isLong ? text.slice(0, window) : text)
    const end = isLong ? Math.min(limit, hidden.length - longestSearched) : limit
    return isLong || hidden.length > limit ? `${hidden.slice(0, end)}… (${text.length} characters)` : hidden
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
    if (!canBeFound(text)) return text
    this.#textLeft -= text.length
    if (this.#textLeft < 0) this.droppedTexts++
    return this.#textLeft < 0 || this.droppedSecrets > 0 || this.droppedLessons > 0 ? leftOut : hideWhatLooksSecret(this.#hideKnown(text))
  }

  #hideKnown (text: string): string {
    if (!this.#isKnownCurrent) {
      this.#known = knownSecrets(this.#secrets)
      this.#isKnownCurrent = true
    }
    const hidden = this.#known === null ? text : hideKnown(text, this.#known)
    return this.#standing === null ? hidden : hideKnown(hidden, this.#standing)
  }

  #learnFrom (value: unknown, name: string, depth: number): void {
    if (--this.#valuesLeft < 0) {
      this.droppedLessons++
      return
    }
    switch (typeof value) {
      case 'string': return this.#learnText(value, name)
      case 'number':
      case 'bigint': return this.#learnNumber(String(value), name)
      case 'object': if (value !== null) this.#learnFromObject(value, name, depth)
    }
  }

  #learnText (text: string, name: string): void {
    if (isSensitiveField(name, text)) return this.learn(text)
    if (!canBeFound(text) || plain.has(text)) return
    const piece = text.slice(0, this.#bounds.text * 4)
    this.#textLeft -= piece.length
    if (this.#textLeft < 0) return
    for (const place of findSecrets(piece)) this.learn(piece.slice(...place))
  }

  #learnNumber (text: string, name: string): void {
    if (!isSensitiveName(name)) return
    this.learn(text)
    this.#hasNumbers = true
  }

  #learnFromObject (value: object, name: string, depth: number): void {
    if (ArrayBuffer.isView(value)) return
    const isSensitive = isSensitiveName(name)
    const seen = this.#seen[Number(isSensitive)]
    if (seen === undefined || seen.has(value)) return
    seen.add(value)
    if (depth >= depthLearned) {
      this.droppedLessons++
      return
    }
    const keys = Object.keys(value)
    const nameOf = isSensitive ? () => name : namesWithin(value, keys, name)
    for (const key of keys) {
      if (this.#valuesLeft < 0) {
        this.droppedLessons++
        return
      }
      this.#learnFrom(read(value, key), nameOf(key), depth + 1)
    }
  }

  #plain (value: unknown, name: string, depth: number, budget: { left: number }): Json {
    if (value === null || value === undefined) return null
    if (isSensitiveName(name) && (typeof value !== 'object')) return masked
    switch (typeof value) {
      case 'string': return this.text(value)
      case 'number': return this.#number(value)
      case 'boolean': return value
      case 'bigint': return this.text(String(value))
      case 'function': return `[function ${this.text(textOf(read(value, 'name')))}]`
      case 'symbol': return this.text(String(value))
    }
    return attempt(() => this.#plainObject(value, name, depth, budget), '[unreadable]')
  }

  #number (value: number): Json {
    const text = String(value)
    if (this.#hasNumbers && this.#secrets.has(text)) return masked
    return Number.isFinite(value) ? value : text
  }

  #plainObject (value: object, name: string, depth: number, budget: { left: number }): Json {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
    if (value instanceof Error) return this.text(`${nameOfError(value)}: ${textOf(read(value, 'message'))}`)
    if (depth >= this.#bounds.depth) {
      this.dropped++
      return Array.isArray(value) ? '[array]' : '[object]'
    }
    if (Array.isArray(value) || value instanceof Set) {
      const items: Json[] = []
      for (const item of value) {
        if (!this.#spend(budget)) break
        const isNamed = Array.isArray(value) && isNamedByTheOneBefore(value, items.length)
        items.push(this.#plain(item, isNamed ? textOf(value[items.length - 1]) : name, depth + 1, budget))
      }
      return items
    }
    const plain: Record<string, Json> = {}
    const keys = value instanceof Map ? [] : Object.keys(value)
    const names = fieldNames(value, keys)
    const entries = value instanceof Map ? value : entriesOf(value, keys)
    for (const [key, item] of entries) {
      if (!this.#spend(budget)) break
      if (item === undefined) continue
      const text = textOf(key)
      // Below a sensitive name everything is.
      const within = isSensitiveName(name) ? name : names.get(text) ?? text
      // That one key would not be stored but change the object.
      plain[text === '__proto__' ? '[__proto__]' : this.text(text)] = this.#plain(item, within, depth + 1, budget)
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
    const name = pair.slice(0, Math.max(equals, 0)).trim()
    const value = unquote(pair.slice(equals + 1).trim())
    const decoded = decode(value)
    if (!isSensitiveName(name) && isChoice(decoded)) return
    this.learn(value)
    this.learn(decoded)
    for (const secret of secretsInCookie(decoded)) this.learn(secret)
  }

  #learnCredentials (value: string): void {
    const space = value.indexOf(' ')
    const credentials = value.slice(space + 1).trim()
    this.learn(credentials)
    if (/^basic /i.test(value)) {
      const decoded = Buffer.from(credentials, 'base64').toString()
      this.learn(decoded.slice(decoded.indexOf(':') + 1))
    } else {
      for (const secret of secretsInCredentials(credentials)) this.learn(secret)
    }
  }
}

function * entriesOf (value: object, keys: readonly string[]): Iterable<[string, unknown]> {
  for (const key of keys) yield [key, read(value, key)]
}

/** Answers for each key of a structure, which stands under a name itself, under which name its value stands. */
function namesWithin (value: object, keys: readonly string[], name: string): (key: string) => string {
  if (Array.isArray(value)) return key => isNamedByTheOneBefore(value, Number(key)) ? textOf(value[Number(key) - 1]) : name
  const names = fieldNames(value, keys)
  return key => names.get(key) ?? key
}

/** What a cookie holds that remembers a choice: a few words, a short number. */
function isChoice (text: string): boolean {
  return text.length < 16 && /^(?:[a-z]+(?:[ /_.-][a-z]+)*[_.-]?|\d{1,7})$/i.test(text)
}

function maskCookie (pair: string): string {
  const equals = pair.indexOf('=')
  return equals === -1 ? masked : `${pair.slice(0, equals).trim()}=${masked}`
}

function unquote (text: string): string {
  return text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
}
