import type { HeaderLine } from '../base/profile.ts'
import { masked } from './known-secrets.ts'
import { isSensitiveField } from './sensitive-names.ts'
import type { TextMask } from './text-mask.ts'

/** Response headers that the profiler adds. */
const ownHeaders = new Set(['x-debug-token', 'x-debug-token-link'])

/** Masks a header line. Cookies keep their names, credentials their scheme. */
export function maskHeader([name, value]: HeaderLine, texts: TextMask): HeaderLine {
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
  return [name, isSensitiveField(name, value) ? masked : texts.text(value)]
}

/** Masks a line of a response. @param token the request's, which its own headers contain */
export function maskResponseHeader(line: HeaderLine, token: string, texts: TextMask): HeaderLine {
  const [name, value] = line
  const isOwn = ownHeaders.has(name) || (name === 'server-timing' && value.startsWith(`token;desc="${token}"`))
  return isOwn ? [name, texts.ownText(value)] : maskHeader(line, texts)
}

function maskCookie(pair: string): string {
  const equals = pair.indexOf('=')
  return equals === -1 ? masked : `${pair.slice(0, equals).trim()}=${masked}`
}
