import type { ServerResponse } from 'node:http'
import { setHeader } from '../base/set-header.ts'
import type { Exchange } from '../watch/exchange.ts'
import { permitToolbar } from './parts/toolbar-policy.ts'
import { serverTiming } from './server-timing.ts'

/** Adds the headers that link a response to its profile. */
export function addDebugHeaders({ recorder, response }: Exchange, link: string): void {
  // After a 304 the browser applies this response's policy to the cached page and its toolbar.
  if (response.statusCode === 304) permitToolbar(response)
  response.setHeader('x-debug-token', recorder.token)
  response.setHeader('x-debug-token-link', link)
  const robots = linesOf(response, 'x-robots-tag')
  if (robots === null) response.setHeader('x-robots-tag', 'noindex')
  else if (!robots.some(isForNoIndex)) setHeader(response, 'x-robots-tag', [...robots, 'noindex'])
  const timing = serverTiming(recorder)
  const timings = linesOf(response, 'server-timing')
  setHeader(response, 'server-timing', timings === null ? timing : [timing, ...timings])
}

/** The application's values of a header; null if it set none. */
function linesOf(response: ServerResponse, name: string): string[] | null {
  const value = response.getHeader(name)
  return value === undefined ? null : [value].flat().map(String)
}

/** Whether a line of X-Robots-Tag already tells every robot not to index. */
function isForNoIndex(line: string): boolean {
  return !/^\s*[\w-]+\s*:/.test(line) && /(?:^|,)\s*(?:noindex|none)\s*(?:,|$)/i.test(line)
}
