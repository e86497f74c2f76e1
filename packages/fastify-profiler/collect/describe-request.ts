import { read } from '../base/foreign-value.ts'
import type { HeaderLine, Json, RequestRecord } from '../base/profile.ts'
import { masked } from '../mask/known-secrets.ts'
import { maskHeader } from '../mask/mask-header.ts'
import type { Mask } from '../mask/mask.ts'
import type { Exchange } from '../watch/exchange.ts'
import { headerOf } from './header-lines.ts'

export function describeRequest(exchange: Exchange, headers: readonly HeaderLine[], mask: Mask): RequestRecord {
  const { recorder, request, received } = exchange
  return {
    headers: headers.map(line => maskHeader(line, mask.texts)),
    query: mask.record(queryOf(recorder.url)),
    params: mask.record(request === null ? null : read(request, 'params')),
    cookies: cookiesOf(headers, mask),
    body: mask.value(request === null ? null : read(request, 'body')),
    contentType: mask.textOrNull(headerOf(headers, 'content-type')),
    bodySize: received?.bytes ?? null,
  }
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
