import type { ProfileBounds } from '../base/bounds.ts'
import { secretsInCookie, secretsInCredentials } from './carried-secrets.ts'
import { namesWithin } from './field-names.ts'
import { findSecrets } from './find-secrets.ts'
import { attempt, read } from '../base/foreign-value.ts'
import { canBeFound, hideKnown, knownSecrets, type KnownSecrets } from './known-secrets.ts'
import { decode } from './percent-encoding.ts'
import type { HeaderLine } from '../base/profile.ts'
import { looksSecret } from './secret-values.ts'
import { isSensitiveField, isSensitiveName, isSensitiveParameter } from './sensitive-names.ts'

/** More secrets than a request has use for; with more, none is looked for and all text left out. */
export const secretsLearned = 1000

/** Values of bodies, queries and parameters in all that are looked at for secrets. */
export const valuesLearned = 100_000

/** Deeper than anybody nests, and far from where the stack ends. */
const depthLearned = 100

/** Learns the secrets of one request from the names they stand under. */
export class RequestSecrets {
  readonly #bounds: ProfileBounds
  /** Those of all requests. */
  readonly #standing: KnownSecrets | null
  readonly #secrets = new Set<string>()
  #known: KnownSecrets | null = null
  #isKnownCurrent = true
  #valuesLeft = valuesLearned
  #textLeft: number
  /** Objects that were learnt from: those under harmless names and those under sensitive ones. */
  readonly #seen = [new Set<object>(), new Set<object>()] as const
  /** Objects that contain the one that is being learnt from. */
  readonly #path: object[] = []
  /** Secrets that are not looked for, because there were too many. */
  dropped = 0
  /** Values in which no secrets were looked for, because there were too many. */
  droppedLessons = 0

  constructor(bounds: ProfileBounds, standing: KnownSecrets | null) {
    this.#bounds = bounds
    this.#standing = standing
    this.#textLeft = bounds.texts
  }

  /** Whether there may be secrets that are not known. */
  get isIncomplete(): boolean {
    return this.dropped > 0 || this.droppedLessons > 0
  }

  /** Hides this text from now on, wherever it stands. */
  add(secret: string): void {
    if (!canBeFound(secret) || this.#secrets.has(secret)) return
    if (this.#secrets.size >= secretsLearned) {
      this.dropped++
      return
    }
    this.#secrets.add(secret)
    this.#isKnownCurrent = false
  }

  /** Learns every secret of a structure by the names in it. */
  learnFrom(value: unknown): void {
    attempt(() => this.#learnFrom(value, '', 0), undefined)
  }

  /** Learns from header lines, including what cookies and credentials carry. */
  learnFromHeaders(lines: readonly HeaderLine[]): void {
    for (const [name, value] of lines) {
      const lower = name.toLowerCase()
      if (lower === 'cookie') for (const part of value.split(';')) this.#learnCookie(part)
      else if (lower === 'set-cookie') this.#learnCookie(value.replace(/;.*/s, ''))
      else if (lower === 'authorization' || lower === 'proxy-authorization') this.#learnCredentials(value)
      else if (lower === 'referer' || lower === 'location') this.learnFromUrl(value)
      else if (isSensitiveName(name)) this.#learn(value)
    }
  }

  /** Learns the secrets among a URL's parameters. */
  learnFromUrl(url: string): void {
    for (const part of url.split(/[?#]/).slice(1)) {
      for (const [name, value] of new URLSearchParams(part)) {
        if (isSensitiveParameter(name, value)) this.#learn(value)
      }
    }
  }

  /** Learns how a URL spells the secrets that are known by now: any of its letters may be encoded. */
  learnSpellings(url: string): void {
    if (this.#secrets.size === 0 || !/[%+]/.test(url)) return
    for (const part of url.split(/[/?&=#;]/)) {
      const decoded = decode(part.replaceAll('+', ' '))
      if (decoded !== part && this.hide(decoded) !== decoded) this.#learn(part)
    }
  }

  /** A text without the secrets that are known. */
  hide(text: string): string {
    if (!this.#isKnownCurrent) {
      this.#known = knownSecrets(this.#secrets)
      this.#isKnownCurrent = true
    }
    const hidden = this.#known === null ? text : hideKnown(text, this.#known)
    return this.#standing === null ? hidden : hideKnown(hidden, this.#standing)
  }

  #learn(value: string): void {
    if (looksSecret(value)) this.add(value)
  }

  #learnFrom(value: unknown, name: string, depth: number): void {
    if (--this.#valuesLeft < 0) {
      this.droppedLessons++
      return
    }
    switch (typeof value) {
      case 'string':
        return this.#learnText(value, name)
      case 'number':
      case 'bigint':
        if (isSensitiveName(name)) this.#learn(String(value))
        return
      case 'object':
        if (value !== null) this.#learnFromObject(value, name, depth)
    }
  }

  #learnText(text: string, name: string): void {
    if (isSensitiveField(name, text)) return this.#learn(text)
    const piece = text.slice(0, this.#bounds.text * 4)
    this.#textLeft -= piece.length
    if (this.#textLeft < 0) this.droppedLessons++
    else for (const place of findSecrets(piece)) this.#learn(piece.slice(...place))
  }

  #learnFromObject(value: object, name: string, depth: number): void {
    const seen = this.#seen[isSensitiveName(name) ? 1 : 0]
    // What contains a secret is no part of it: each field of a multipart form refers to the form.
    if (ArrayBuffer.isView(value) || seen.has(value) || this.#path.includes(value)) return
    seen.add(value)
    if (depth >= depthLearned) {
      this.droppedLessons++
      return
    }
    const keys = Object.keys(value)
    const nameOf = namesWithin(value, keys, name)
    this.#path.push(value)
    for (const key of keys) {
      if (this.#valuesLeft < 0) {
        this.droppedLessons++
        break
      }
      this.#learnFrom(read(value, key), nameOf(key), depth + 1)
    }
    this.#path.pop()
  }

  #learnCookie(pair: string): void {
    const value = unquote(pair.slice(pair.indexOf('=') + 1).trim())
    const decoded = decode(value)
    for (const secret of [value, decoded, ...secretsInCookie(decoded)]) this.#learn(secret)
  }

  #learnCredentials(value: string): void {
    const credentials = value.slice(value.indexOf(' ') + 1).trim()
    this.#learn(credentials)
    if (/^basic /i.test(value)) {
      const decoded = Buffer.from(credentials, 'base64').toString()
      this.#learn(decoded.slice(decoded.indexOf(':') + 1))
    } else {
      for (const secret of secretsInCredentials(credentials)) this.#learn(secret)
    }
  }
}

function unquote(text: string): string {
  return text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
}
