import { looksSecret } from './secret-values.ts'
import { isSensitiveField } from './sensitive-names.ts'

/** The length of the shortest digest in base64, that of SHA-1. */
const shortestSignature = 27

/**
 * The secrets inside a cookie's value: its signed content, values in its JSON, its text if that is in base64. The
 * application works with these rather than with the cookie.
 */
export function secretsInCookie(value: string): string[] {
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
export function secretsInCredentials(credentials: string): string[] {
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
