/** What stands in place of a secret. */
export const masked = '[masked]'

/** Shorter ones would be found in every other word. */
const shortestSecret = 6

/** Of longer ones the beginning is looked for: nothing else begins like that. */
export const longestSearched = 64

/** Of longer ones all that follows is masked: how they would be spelled is not worth the time. */
const longestSpelled = 8192

/** Texts that are to be found wherever they stand. */
export interface KnownSecrets {
  pattern: RegExp
  /** How long those are of which only the beginning is looked for. */
  lengths: ReadonlyMap<string, number>
}

/** Whether a secret can be looked for without finding it everywhere. */
export function canBeFound({ length }: string): boolean {
  return length >= shortestSecret
}

/** Makes secrets ready to be looked for; null where there are none. */
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
  return starts.size === 0 ? null : { pattern: new RegExp(alternatives(starts), 'g'), lengths }
}

/** A text without these secrets. */
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

/** The longest first, so that none is masked in part. */
function alternatives(texts: Iterable<string>): string {
  const sorted = [...texts].sort((one, other) => other.length - one.length)
  return sorted.map(text => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('|')
}

/** A secret as it may stand in URLs, forms, JSON (in JSON), HTML and what Node prints of objects. */
function spellings(secret: string): Set<string> {
  const forms = new Set([secret])
  if (/^[\w.~-]*$/.test(secret)) return forms
  const encoded = encode(secret)
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

function encode(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    // Half a surrogate pair has no encoded form.
    return text
  }
}
