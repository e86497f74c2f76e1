import { looksSecret } from './secret-values.ts'
import { isSensitiveName } from './sensitive-names.ts'

/** A digest in base64 has at least so many characters. */
const shortestSignature = 27

/**
 * What a cookie's value carries within it: the content that was signed, what its JSON holds, the text that
 * is in base64. An application has that in hand, not the cookie.
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

/** What credentials say besides their scheme, as in `Digest username="a", response="…"`. */
export function secretsInCredentials(credentials: string): string[] {
  const secrets: string[] = []
  for (const { 1: name = '', 2: value = '' } of credentials.matchAll(
    /(?<![\w+/=.-])([a-z]\w{0,20})\s?=\s?"?([^",\s]+)/gi,
  )) {
    if (/^(?:response|mac)$/i.test(name) || isSensitiveName(name)) secrets.push(value)
  }
  return secrets
}

/** Without the signature and the marks that Express puts before what it signs and what is JSON. */
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
      if (typeof value === 'string' && (isSensitiveName(name) || isToken(value))) secrets.push(value)
    })
  } catch {
    // It only begins like JSON.
  }
  return secrets
}

/** Letters and digits without spaces or slashes: not what a page is called, nor where it is. */
function isToken(text: string): boolean {
  return /^(?=\D*\d)[\w.~+=-]{10,}$/.test(text) && looksSecret(text)
}
