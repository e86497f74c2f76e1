import type { ProfileBounds } from '../bounds.ts'
import { isError, nameOfError, read, textOf } from '../foreign-value.ts'
import type { HeaderLine, Json } from '../profile.ts'
import { findSecrets } from './find-secrets.ts'
import { canBeFound, longestSearched, masked } from './known-secrets.ts'
import type { RequestSecrets } from './request-secrets.ts'
import { isSensitiveField, isSensitiveName, namesWithin } from './secret-names.ts'

/** Replaces a text that could not be searched for secrets. */
export const leftOut = '[left out]'

/** Converts texts and other values to plain data without the secrets of one request. */
export class Mask {
  readonly #bounds: ProfileBounds
  readonly #secrets: RequestSecrets
  #charactersLeft: number
  /** The number of texts left out because there were too many to search. */
  droppedTexts = 0
  /** The number of values that were left out of too large structures. */
  dropped = 0

  constructor(bounds: ProfileBounds, secrets: RequestSecrets) {
    this.#bounds = bounds
    this.#secrets = secrets
    this.#charactersLeft = bounds.texts
  }

  /** Masks a text, and cuts it to the bound of one string. */
  text(text: string): string {
    const limit = this.#bounds.text
    const window = limit * 4
    const isLong = text.length > window
    // Masked before it is cut, since half a secret would not be recognised.
    const hidden = this.#hide(isLong ? text.slice(0, window) : text)
    const end = isLong ? Math.min(limit, hidden.length - longestSearched) : limit
    return isLong || hidden.length > limit ? `${hidden.slice(0, end)}… (${text.length} characters)` : hidden
  }

  /** Masks only known secrets, in a text that the profiler made. */
  ownText(text: string): string {
    return this.#secrets.hide(text)
  }

  /** Returns the number, or its masked text if it is a secret. Infinity and NaN become text. */
  #number(value: number): number | string {
    if (Number.isFinite(value) && !this.#secrets.areInNumbers) return value
    const text = String(value)
    if (!Number.isFinite(value)) return text
    return !canBeFound(text) || this.#secrets.hide(text) === text ? value : this.text(text)
  }

  #hide(text: string): string {
    if (!canBeFound(text)) return text
    this.#charactersLeft -= text.length
    if (this.#charactersLeft < 0) this.droppedTexts++
    if (this.#charactersLeft < 0 || this.#secrets.isIncomplete) return leftOut
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

  textOrNull(text: string | null): string | null {
    return text === null ? null : this.text(text)
  }

  /** Converts any value to plain data: masked, bounded, without cycles. Never throws. */
  value(value: unknown, name = ''): Json {
    return this.#plain(value, name, [], { left: this.#bounds.values })
  }

  /** Converts an object; {} for anything else. */
  record(value: unknown): Record<string, Json> {
    const plain = this.value(value)
    return plain !== null && typeof plain === 'object' && !Array.isArray(plain) ? plain : {}
  }

  #plain(value: unknown, name: string, path: object[], budget: { left: number }): Json {
    if (value === null || value === undefined) return null
    if (typeof value === 'string') return isSensitiveField(name, value) ? masked : this.text(value)
    if (typeof value === 'number') return isSensitiveField(name, String(value)) ? masked : this.#number(value)
    if (isSensitiveName(name) && typeof value !== 'object') return masked
    switch (typeof value) {
      case 'boolean':
        return value
      case 'function':
        return `[function ${this.text(textOf(read(value, 'name')))}]`
      case 'object':
        return this.#readable(value, name, path, budget)
      default:
        return this.text(textOf(value))
    }
  }

  #readable(value: object, name: string, path: object[], budget: { left: number }): Json {
    try {
      return this.#plainObject(value, name, path, budget)
    } catch {
      return '[unreadable]'
    }
  }

  #plainObject(value: object, name: string, path: object[], budget: { left: number }): Json {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
    if (isError(value)) return this.text(`${nameOfError(value)}: ${textOf(read(value, 'message'))}`)
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
    for (let index = 0; index < items.length; index++) {
      if (!spend(budget)) {
        plain.push(this.#shortened(items.length - index))
        break
      }
      plain.push(this.#plain(items[index], nameOf(String(index)), path, budget))
    }
    return plain
  }

  #plainFields(value: object, name: string, path: object[], budget: { left: number }): Record<string, Json> {
    const plain: Record<string, Json> = {}
    if (value instanceof Map) {
      const nameOf = namesWithin(value, [], name)
      for (const [key, item] of value) {
        if (!spend(budget)) return { ...plain, '…': this.#shortened(value.size - Object.keys(plain).length) }
        const text = textOf(key)
        this.#addField(plain, text, item, nameOf(text), path, budget)
      }
      return plain
    }
    const keys = Object.keys(value)
    const nameOf = namesWithin(value, keys, name)
    for (const [index, key] of keys.entries()) {
      if (!spend(budget)) return { ...plain, '…': this.#shortened(keys.length - index) }
      this.#addField(plain, key, read(value, key), nameOf(key), path, budget)
    }
    return plain
  }

  #addField(
    plain: Record<string, Json>,
    key: string,
    item: unknown,
    name: string,
    path: object[],
    budget: { left: number },
  ): void {
    if (item === undefined) return
    // Assigning to `__proto__` would set the prototype.
    plain[key === '__proto__' ? '[__proto__]' : this.text(key)] = this.#plain(item, name, path, budget)
  }

  /** What stands for the values of a structure that are left out. */
  #shortened(count: number): string {
    this.dropped += count
    return `… shortened, ${count.toLocaleString('en')} more`
  }
}

function spend(budget: { left: number }): boolean {
  budget.left--
  return budget.left >= 0
}

const ownHeaders = new Set(['x-debug-token', 'x-debug-token-link'])

/** Masks a header line. Cookies keep their names, credentials their scheme. */
export function maskHeader([name, value]: HeaderLine, mask: Mask): HeaderLine {
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
  return [name, isSensitiveField(name, value) ? masked : mask.text(value)]
}

/** Masks a line of a response. @param token the request's, which its own headers contain */
export function maskResponseHeader(line: HeaderLine, token: string, mask: Mask): HeaderLine {
  const [name, value] = line
  const isOwn = ownHeaders.has(name) || (name === 'server-timing' && value.startsWith(`token;desc="${token}"`))
  return isOwn ? [name, mask.ownText(value)] : maskHeader(line, mask)
}

function maskCookie(pair: string): string {
  const equals = pair.indexOf('=')
  return equals === -1 ? masked : `${pair.slice(0, equals).trim()}=${masked}`
}
