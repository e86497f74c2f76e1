import type { ProfileBounds } from '../bounds.ts'
import { attempt, read } from '../foreign-value.ts'
import type { HeaderLine } from '../profile.ts'
import { findSecrets } from './find-secrets.ts'
import { canBeFound, decode, hideKnown, knownSecrets, type KnownSecrets } from './known-secrets.ts'
import { isSensitiveField, isSensitiveName, isSensitiveParameter, looksSecret, namesWithin } from './secret-names.ts'

/** The length of the shortest digest in base64, that of SHA-1. */
const shortestSignature = 27

/**
 * The secrets inside a cookie's value: its signed content, values in its JSON, its text if that is in base64. The
 * application works with these rather than with the cookie.
 */
function secretsInCookie(value: string): string[] {
  const content = contentOf(value)
  const secrets = content === value ? [] : [content]
  const isPlain = /^[[{]/.test(content)
  const isEncoded = !isPlain && /^[\w+/-]{16,}={0,2}$/.test(content)
  if (isPlain) return [...secrets, ...secretsInJson(content)]
  if (!isEncoded) return secrets
  const text = Buffer.from(content, 'base64').toString()
  if (/^[[{]/.test(text)) return [...secrets, ...secretsInJson(text)]
  return isToken(text) ? [...secrets, text] : secrets
}

/** The secret parameters of an Authorization header, as in `Digest username="a", response="…"`. */
function secretsInCredentials(credentials: string): string[] {
  const secrets: string[] = []
  for (const { 1: name = '', 2: value = '' } of credentials.matchAll(
    /(?<![\w+/=.-])([a-z]\w{0,20})\s?=\s?"?([^",\s]+)/gi,
  )) {
    if (/^(?:response|mac)$/i.test(name) || isSensitiveField(name, value)) secrets.push(value)
  }
  return secrets
}

/** Removes a cookie's signature, and Express's prefixes for signed values (s:) and JSON (j:). */
function contentOf(value: string): string {
  const text = value.replace(/^(?:s:)?(?:j:)?/, '')
  const dot = text.lastIndexOf('.')
  const signature = text.slice(dot + 1)
  const isSigned =
    dot > 0 && (value.startsWith('s:') || (signature.length >= shortestSignature && /^[\w+/=-]*$/.test(signature)))
  return isSigned ? text.slice(0, dot) : text
}

function secretsInJson(json: string): string[] {
  const secrets: string[] = []
  try {
    JSON.parse(json, (name, value: unknown) => {
      if (typeof value === 'string' && (isSensitiveField(name, value) || isToken(value))) secrets.push(value)
    })
  } catch {
    // Not JSON after all.
  }
  return secrets
}

/** Whether a text looks like a random token rather than a title or a path. */
function isToken(text: string): boolean {
  return /^(?=\D*\d)[\w.~+=-]{10,}$/.test(text) && looksSecret(text)
}

/** The limit of secrets per request. Beyond it, all text is left out of the profile. */
export const secretsLearned = 1000

/** The limit of values in bodies, queries and parameters that are searched for secrets. */
export const valuesLearned = 100_000

/** Deeper than real data, but far from a stack overflow. */
const depthLearned = 100

/** Masks the secrets of one request wherever they are repeated. It learns them by the names of the request's values. */
export class RequestSecrets {
  readonly #bounds: ProfileBounds
  /** The secrets of all requests. */
  readonly #standing: KnownSecrets | null
  readonly #secrets = new Set<string>()
  #known: KnownSecrets | null = null
  #isKnownCurrent = true
  #valuesLeft = valuesLearned
  #textLeft: number
  /** The objects searched so far: under harmless names and under sensitive ones. */
  readonly #seen = [new Set<object>(), new Set<object>()] as const
  /** The objects that contain the one being searched. */
  readonly #path: object[] = []
  /** The number of secrets over the limit. */
  dropped = 0
  /** The number of values that were not searched, because there were too many. */
  droppedLessons = 0

  constructor(bounds: ProfileBounds, standing: KnownSecrets | null) {
    this.#bounds = bounds
    this.#standing = standing
    this.#textLeft = bounds.texts
  }

  /** Whether some secrets may be unknown. */
  get isIncomplete(): boolean {
    return this.dropped > 0 || this.droppedLessons > 0
  }

  /** Masks a text from now on, wherever it occurs. */
  add(secret: string): void {
    if (!canBeFound(secret) || this.#secrets.has(secret)) return
    if (this.#secrets.size >= secretsLearned) {
      this.dropped++
      return
    }
    this.#secrets.add(secret)
    this.#isKnownCurrent = false
  }

  /** Keeps only the secrets: neither the values that it has learnt from, nor the patterns that find the secrets. */
  release(): void {
    for (const seen of this.#seen) seen.clear()
    this.#known = null
    this.#isKnownCurrent = false
  }

  /** Learns the secrets of a structure by the names of its fields. */
  learnFrom(value: unknown): void {
    attempt(() => this.#learnFrom(value, '', 0), undefined)
  }

  /** Learns the secrets in headers, including those inside cookies and credentials. */
  learnFromHeaders(lines: readonly HeaderLine[]): void {
    for (const [name, value] of lines) {
      const lower = name.toLowerCase()
      if (lower === 'cookie') for (const part of value.split(';')) this.#learnCookie(part)
      else if (lower === 'set-cookie') this.#learnCookie(value.replace(/;.*/s, ''))
      else if (lower === 'authorization' || lower === 'proxy-authorization') this.#learnCredentials(value)
      else if (lower === 'referer' || lower === 'location') this.learnFromUrl(value)
      else if (isSensitiveField(name, value)) this.#learn(value)
    }
  }

  /** Learns the secrets in a URL's query and fragment. */
  learnFromUrl(url: string): void {
    if (!/[?#]/.test(url)) return
    for (const part of url.split(/[?#]/).slice(1)) {
      for (const [name, value] of new URLSearchParams(part)) {
        if (isSensitiveParameter(name, value)) this.#learn(value)
      }
    }
  }

  /** Learns how a URL encodes the secrets known so far: any character may be percent-encoded. */
  learnSpellings(url: string): void {
    if (this.#secrets.size === 0 || !/[%+]/.test(url)) return
    const spelled = url.split(/[/?&=#;]/).filter(part => {
      const decoded = decode(part.replaceAll('+', ' '))
      return decoded !== part && this.hide(decoded) !== decoded
    })
    // Not in the loop, since the next search would prepare all secrets again.
    for (const part of spelled) this.#learn(part)
  }

  hide(text: string): string {
    const known = this.#current()
    const hidden = known === null ? text : hideKnown(text, known)
    return this.#standing === null ? hidden : hideKnown(hidden, this.#standing)
  }

  /** Whether a number may contain one of the known secrets. */
  get areInNumbers(): boolean {
    return this.#current()?.areInNumbers === true || this.#standing?.areInNumbers === true
  }

  #current(): KnownSecrets | null {
    if (!this.#isKnownCurrent) {
      this.#known = knownSecrets(this.#secrets)
      this.#isKnownCurrent = true
    }
    return this.#known
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
        if (isSensitiveField(name, String(value))) this.#learn(String(value))
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
    // Containers are skipped: each field of a multipart form refers back to the whole form.
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
