import type { IncomingMessage } from 'node:http'
import { attempt } from './foreign-value.ts'

/** The raw path of a request: no query, no fragment, an absolute-form target reduced to its path. */
export function pathOfUrl(url: string): string {
  const path = url.replace(/^[a-z][\w+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  return path === '' ? '/' : path
}

/** The Host header of a request, or HTTP/2's :authority. */
export function requestHost({ headers }: IncomingMessage): string | null {
  const host = headers.host ?? headers[':authority']
  return typeof host === 'string' ? host : null
}

export function hostName(host: string): string {
  return host.trim().toLowerCase().replace(/:\d*$/, '')
}

/** Encodes text for a URL's path or query; a lone surrogate becomes a replacement character. */
export function urlPart(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}

/** A URL as people read it. What separates its parts, hides or rearranges text stays escaped. */
export function readableUrl(url: string): string {
  const escaped = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[/?#&=+%;\\]/gu
  return url.replace(/(?:%[\da-f]{2})+/gi, run => attempt(() => decodeURIComponent(run).replace(escaped, urlPart), run))
}

export function profileUrl(base: string, token: string, panel?: string): string {
  return `${base}/${urlPart(token)}${panel === undefined ? '' : `?panel=${urlPart(panel)}`}`
}

/** A time in UTC for an input of type datetime-local. */
export function inputTime(time: number | undefined): string {
  return isoTime(time).slice(0, 19)
}

/** A time as ISO 8601 has it; empty for none. */
export function isoTime(time: number | undefined): string {
  const date = new Date(time ?? NaN)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
