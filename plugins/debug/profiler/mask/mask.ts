import type { ProfileBounds } from '../base/bounds.ts'
import { namesWithin } from './field-names.ts'
import { findSecrets } from './find-secrets.ts'
import { attempt, nameOfError, read, textOf } from '../base/foreign-value.ts'
import { canBeFound, longestSearched, masked } from './known-secrets.ts'
import type { HeaderLine, Json } from '../base/profile.ts'
import type { RequestSecrets } from './request-secrets.ts'
import { isSensitiveField, isSensitiveName } from './sensitive-names.ts'

/** Headers that the profiler makes for each answer: only known secrets are looked for in them. */
const ownHeaders = new Set(['x-debug-token', 'x-debug-token-link'])

/** Stands for a text in which secrets could not be looked for. */
const leftOut = '[left out]'

/** Turns anything into plain data that holds no secret. */
export class Mask {
  readonly #bounds: ProfileBounds
  readonly #secrets: RequestSecrets
  #textLeft: number
  /** Values left out because a structure held too many of them. */
  dropped = 0
  /** Texts left out because there were too many to look for secrets in. */
  droppedTexts = 0

  constructor(bounds: ProfileBounds, secrets: RequestSecrets) {
    this.#bounds = bounds
    this.#secrets = secrets
    this.#textLeft = bounds.texts
  }

  /** A header line without its secrets; cookies keep their names, credentials their scheme. */
  header([name, value]: HeaderLine): HeaderLine {
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
    return [name, isSensitiveField(name, value) ? masked : this.text(value)]
  }

  /** The same for a line of the answer, where some are the profiler's own. */
  responseHeader(line: HeaderLine, token: string): HeaderLine {
    const [name, value] = line
    const isOwn = ownHeaders.has(name) || (name === 'server-timing' && value.startsWith(`token;desc="${token}"`))
    return isOwn ? [name, this.#secrets.hide(value)] : this.header(line)
  }

  /** Text without the secrets it contains, cut to what one string may hold. */
  text(text: string): string {
    const limit = this.#bounds.text
    const window = limit * 4
    const isLong = text.length > window
    // Masked before it is cut: half a secret would not be recognised.
    const hidden = this.#hide(isLong ? text.slice(0, window) : text)
    const end = isLong ? Math.min(limit, hidden.length - longestSearched) : limit
    return isLong || hidden.length > limit ? `${hidden.slice(0, end)}… (${text.length} characters)` : hidden
  }

  /** Anything at all as plain data: masked, bounded, without cycles, whatever its getters do. */
  value(value: unknown, name = ''): Json {
    return this.#plain(value, name, [], { left: this.#bounds.values })
  }

  /** The same for a structure whose names matter. */
  record(value: unknown): Record<string, Json> {
    const plain = this.value(value)
    return plain !== null && typeof plain === 'object' && !Array.isArray(plain) ? plain : {}
  }

  #hide(text: string): string {
    if (!canBeFound(text)) return text
    this.#textLeft -= text.length
    if (this.#textLeft < 0) this.droppedTexts++
    if (this.#textLeft < 0 || this.#secrets.isIncomplete) return leftOut
    const hidden = this.#secrets.hide(text)
    const places = findSecrets(hidden)
    if (places.length === 0) return hidden
    let result = ''
    let at = 0
    for (const [from, to] of places) {
      result += hidden.slice(at, from) + masked
      at = to
    }
    return result + hidden.slice(at)
  }

  #plain(value: unknown, name: string, path: object[], budget: { left: number }): Json {
    if (value === null || value === undefined) return null
    if (typeof value === 'string') return isSensitiveField(name, value) ? masked : this.text(value)
    if (isSensitiveName(name) && typeof value !== 'object') return masked
    switch (typeof value) {
      case 'number':
        return this.#number(value)
      case 'boolean':
        return value
      case 'function':
        return `[function ${this.text(textOf(read(value, 'name')))}]`
      case 'object':
        return attempt(() => this.#plainObject(value, name, path, budget), '[unreadable]')
      default:
        return this.text(String(value))
    }
  }

  #number(value: number): Json {
    const text = String(value)
    if (!Number.isFinite(value)) return text
    return !canBeFound(text) || this.#secrets.hide(text) === text ? value : this.text(text)
  }

  #plainObject(value: object, name: string, path: object[], budget: { left: number }): Json {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
    if (value instanceof Error) return this.text(`${nameOfError(value)}: ${textOf(read(value, 'message'))}`)
    if (path.includes(value)) return '[circular]'
    if (path.length >= this.#bounds.depth) {
      this.dropped++
      return Array.isArray(value) ? '[array]' : '[object]'
    }
    path.push(value)
    try {
      if (Array.isArray(value)) return this.#plainItems(value, name, path, budget)
      if (value instanceof Set) return this.#plainItems([...value], name, path, budget)
      return this.#plainFields(value, name, path, budget)
    } finally {
      path.pop()
    }
  }

  #plainItems(items: readonly unknown[], name: string, path: object[], budget: { left: number }): Json[] {
    const nameOf = namesWithin(items, [], name)
    const plain: Json[] = []
    for (const [index, item] of items.entries()) {
      if (!this.#spend(budget)) break
      plain.push(this.#plain(item, nameOf(String(index)), path, budget))
    }
    return plain
  }

  #plainFields(value: object, name: string, path: object[], budget: { left: number }): Record<string, Json> {
    const keys = value instanceof Map ? [] : Object.keys(value)
    const nameOf = namesWithin(value, keys, name)
    const plain: Record<string, Json> = {}
    for (const [key, item] of value instanceof Map ? value : entriesOf(value, keys)) {
      if (!this.#spend(budget)) break
      if (item === undefined) continue
      const text = textOf(key)
      // That one key would not be stored but change the object.
      plain[text === '__proto__' ? '[__proto__]' : this.text(text)] = this.#plain(item, nameOf(text), path, budget)
    }
    return plain
  }

  #spend(budget: { left: number }): boolean {
    if (budget.left > 0) {
      budget.left--
      return true
    }
    this.dropped++
    return false
  }
}

function* entriesOf(value: object, keys: readonly string[]): Iterable<[string, unknown]> {
  for (const key of keys) yield [key, read(value, key)]
}

function maskCookie(pair: string): string {
  const equals = pair.indexOf('=')
  return equals === -1 ? masked : `${pair.slice(0, equals).trim()}=${masked}`
}
