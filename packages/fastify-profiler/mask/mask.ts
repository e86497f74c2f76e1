import type { ProfileBounds } from '../base/bounds.ts'
import { namesWithin } from './field-names.ts'
import { nameOfError, read, textOf } from '../base/foreign-value.ts'
import { masked } from './known-secrets.ts'
import type { Json } from '../base/profile.ts'
import type { RequestSecrets } from './request-secrets.ts'
import { isSensitiveField, isSensitiveName } from './sensitive-names.ts'
import { TextMask } from './text-mask.ts'

/** Converts values to plain data without secrets. */
export class Mask {
  readonly texts: TextMask
  readonly #bounds: ProfileBounds
  /** The number of values that were left out of too large structures. */
  dropped = 0

  constructor(bounds: ProfileBounds, secrets: RequestSecrets) {
    this.texts = new TextMask(bounds, secrets)
    this.#bounds = bounds
  }

  /** Masks a text, and cuts it to the bound of one string. */
  text(text: string): string {
    return this.texts.text(text)
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
    if (typeof value === 'number') return isSensitiveField(name, String(value)) ? masked : this.texts.number(value)
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
    for (let index = 0; index < items.length; index++) {
      if (!this.#spend(budget)) break
      plain.push(this.#plain(items[index], nameOf(String(index)), path, budget))
    }
    return plain
  }

  #plainFields(value: object, name: string, path: object[], budget: { left: number }): Record<string, Json> {
    const plain: Record<string, Json> = {}
    if (value instanceof Map) {
      const nameOf = namesWithin(value, [], name)
      for (const [key, item] of value) {
        if (!this.#spend(budget)) break
        const text = textOf(key)
        this.#addField(plain, text, item, nameOf(text), path, budget)
      }
      return plain
    }
    const keys = Object.keys(value)
    const nameOf = namesWithin(value, keys, name)
    for (const key of keys) {
      if (!this.#spend(budget)) break
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

  #spend(budget: { left: number }): boolean {
    if (budget.left > 0) {
      budget.left--
      return true
    }
    this.dropped++
    return false
  }
}
