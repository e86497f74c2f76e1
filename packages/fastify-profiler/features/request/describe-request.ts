import type { IncomingMessage, ServerResponse } from 'node:http'
import { isFunction, isObject, read } from '../../core/foreign-value.ts'
import { masked } from '../../core/mask/known-secrets.ts'
import { type Mask, maskHeader, maskResponseHeader } from '../../core/mask/mask.ts'
import type { HeaderLine, Json, RequestRecord, ResponseRecord } from '../../core/profile.ts'
import type { Exchange } from '../../core/watch/exchange.ts'

export interface HeaderLines {
  request: HeaderLine[]
  response: HeaderLine[]
}

export function headerLinesOf({ raw, response }: { raw: IncomingMessage; response: ServerResponse }): HeaderLines {
  return { request: receivedLines(raw), response: sentLines(response) }
}

export function headerOf(lines: readonly HeaderLine[], wanted: string): string | null {
  return lines.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null
}

/** In the order received. A request made by `injectWS` of @fastify/websocket has no raw headers. */
function receivedLines({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): HeaderLine[] {
  if (!Array.isArray(rawHeaders)) return Object.entries(headers).map(([name, value]) => [name, String(value)])
  const lines: HeaderLine[] = []
  let name: string | null = null
  for (const text of rawHeaders) {
    if (name === null) {
      name = text
    } else {
      lines.push([name, text])
      name = null
    }
  }
  return lines
}

function sentLines(response: ServerResponse): HeaderLine[] {
  const lines: HeaderLine[] = []
  for (const name of response.getHeaderNames()) {
    const value = response.getHeader(name)
    if (Array.isArray(value)) for (const item of value) lines.push([name, String(item)])
    else lines.push([name, String(value)])
  }
  return lines
}

export function describeRequest(exchange: Exchange, headers: readonly HeaderLine[], mask: Mask): RequestRecord {
  const { recorder, request, received } = exchange
  return {
    headers: headers.map(line => maskHeader(line, mask.texts)),
    query: mask.record(queryOf(recorder.url)),
    params: mask.record(request === null ? null : read(request, 'params')),
    cookies: cookiesOf(headers, mask),
    body: bodyOf(request, mask),
    contentType: mask.textOrNull(headerOf(headers, 'content-type')),
    bodySize: received?.bytes ?? null,
  }
}

/** A body that is passed on as a stream was not parsed: the stream's own properties would say nothing. */
function bodyOf(request: Exchange['request'], mask: Mask): Json {
  const body = request === null ? null : read(request, 'body')
  return isObject(body) && isFunction(read(body, 'pipe')) ? null : mask.value(body)
}

function cookiesOf(lines: readonly HeaderLine[], mask: Mask): Record<string, string> {
  const cookies: Array<[string, string]> = []
  for (const [name, value] of lines) {
    if (name.toLowerCase() !== 'cookie') continue
    for (const pair of value.split(';')) cookies.push([mask.text(pair.replace(/=.*/s, '').trim()), masked])
  }
  return Object.fromEntries(cookies)
}

function queryOf(url: string): Record<string, Json> {
  const start = url.indexOf('?')
  if (start === -1) return {}
  const query = new Map<string, Json>()
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    const known = query.get(name)
    if (known === undefined) query.set(name, value)
    else if (Array.isArray(known)) known.push(value)
    else query.set(name, [known, value])
  }
  return Object.fromEntries(query)
}

export function describeResponse(exchange: Exchange, headers: readonly HeaderLine[], mask: Mask): ResponseRecord {
  const { answer, recorder } = exchange
  return {
    headers: headers.map(line => maskResponseHeader(line, recorder.token, mask.texts)),
    contentType: mask.textOrNull(headerOf(headers, 'content-type')),
    bodySize: recorder.method === 'HEAD' ? 0 : answer.bytes,
    streamed: answer.streamed,
  }
}
