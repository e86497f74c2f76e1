import { attempt } from '../foreign-value.ts'
import { isSensitiveField, looksSecret } from './secret-names.ts'

/** Replaces secrets. */
export const masked = '[masked]'

/** Shorter secrets would be found in ordinary words. */
const shortestSecret = 6

/** Longer secrets are found by their first characters, which are unique enough. */
export const longestSearched = 64

/** The rest of the text after a longer secret's start is masked: encoding all of the secret would take too long. */
const longestSpelled = 8192

/** Secrets, prepared for searching. */
export interface KnownSecrets {
  pattern: RegExp
  /** The full lengths of the secrets that are found by their first characters. */
  lengths: ReadonlyMap<string, number>
  /** Whether a number may contain one of them. */
  areInNumbers: boolean
}

const numeric = /^[\d.e+-]+$/

/** Whether a secret is long enough to be searched for. */
export function canBeFound({ length }: string): boolean {
  return length >= shortestSecret
}

export function knownSecrets(secrets: Iterable<string>): KnownSecrets | null {
  const starts = new Set<string>()
  const lengths = new Map<string, number>()
  for (const secret of secrets) {
    if (!canBeFound(secret)) continue
    for (const spelling of spellings(secret.slice(0, longestSpelled))) {
      const start = spelling.slice(0, longestSearched)
      const length = secret.length > longestSpelled ? Infinity : spelling.length
      if (length > start.length) lengths.set(start, Math.max(length, lengths.get(start) ?? 0))
      starts.add(start)
    }
  }
  if (starts.size === 0) return null
  const areInNumbers = [...starts].some(start => numeric.test(start))
  return { pattern: new RegExp(alternatives(starts), 'g'), lengths, areInNumbers }
}

export function hideKnown(text: string, { pattern, lengths }: KnownSecrets): string {
  let result = ''
  let from = 0
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [found] = match
    result += text.slice(from, match.index) + masked
    from = match.index + (lengths.get(found) ?? found.length)
    pattern.lastIndex = from
  }
  return from === 0 ? text : result + text.slice(from)
}

/** Longest first, so that no secret is masked only in part. */
function alternatives(texts: Iterable<string>): string {
  const sorted = [...texts].sort((one, other) => other.length - one.length)
  return sorted.map(text => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('|')
}

/** A secret as it is encoded in URLs, forms, JSON, JSON in JSON, HTML and the output of util.inspect. */
function spellings(secret: string): Set<string> {
  const forms = new Set([secret])
  if (/^[\w.~-]*$/.test(secret)) return forms
  // A lone surrogate cannot be encoded.
  const encoded = attempt(() => encodeURIComponent(secret), secret)
  const escaped = JSON.stringify(secret).slice(1, -1)
  for (const form of [
    encoded,
    encoded.replaceAll("'", '%27'),
    new URLSearchParams([['', secret]]).toString().slice(1),
  ]) {
    forms.add(form)
    forms.add(form.replace(/%../g, code => code.toLowerCase()))
  }
  forms.add(escaped)
  forms.add(JSON.stringify(escaped).slice(1, -1))
  forms.add(secret.replaceAll('\\', '\\\\'))
  forms.add(escaped.replace(/[^ -~]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`))
  forms.add(
    secret
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;'),
  )
  return forms
}

/** Decodes percent-encoding. Returns the text unchanged if it is malformed. */
export function decode(text: string): string {
  return attempt(() => decodeURIComponent(text), text)
}

/** PWD and OLDPWD are the shell's working directories, not passwords. */
const workingDirectory = /^(?:OLD)?PWD$/

/** A password may contain @ or a slash, so it ends at the first @ or at the last. A user name alone may be a token. */
const userInfos = [
  /^[\w+.-]+:\/\/[^\s:/@]*:([^\s@]+)@/,
  /^[\w+.-]+:\/\/[^\s:/@]*:(\S+)@/,
  /^[\w+.-]+:\/\/([^\s:/@]{20,})@/,
]

/** The secrets in the environment: values under sensitive names, and passwords in URLs, encoded and decoded. */
export function environmentSecrets(environment: Record<string, string | undefined>): string[] {
  const secrets: string[] = []
  for (const [name, value = ''] of Object.entries(environment)) {
    if (isSensitiveField(name, value) && !workingDirectory.test(name)) secrets.push(value)
    for (const userInfo of userInfos) {
      const password = userInfo.exec(value)?.[1]
      if (password !== undefined) secrets.push(password, decode(password))
    }
  }
  return secrets.filter(looksSecret)
}
