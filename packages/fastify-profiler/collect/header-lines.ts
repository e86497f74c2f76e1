import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeaderLine } from '../base/profile.ts'

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
