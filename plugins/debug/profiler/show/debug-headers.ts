import type { ServerResponse } from 'node:http'
import type { Exchange } from '../watch/exchange.ts'
import { permitToolbar } from './parts/toolbar-policy.ts'
import { serverTiming } from './server-timing.ts'

/** Adds the headers that lead from an answer to its profile. */
export function addDebugHeaders({ recorder, response }: Exchange, link: string): void {
  // A browser gives the page that it has kept, and its toolbar, the policy of the answer that says it is unchanged.
  if (response.statusCode === 304) permitToolbar(response)
  response.setHeader('x-debug-token', recorder.token)
  response.setHeader('x-debug-token-link', link)
  const robots = linesOf(response, 'x-robots-tag')
  if (robots === null) response.setHeader('x-robots-tag', 'noindex')
  else if (!robots.some(isForNoIndex)) response.setHeader('x-robots-tag', [...robots, 'noindex'])
  const timing = serverTiming(recorder)
  const timings = linesOf(response, 'server-timing')
  response.setHeader('server-timing', timings === null ? timing : [timing, ...timings])
}

/** The lines that the application has set under a header's name; null if there are none. */
function linesOf(response: ServerResponse, name: string): string[] | null {
  const value = response.getHeader(name)
  return value === undefined ? null : [value].flat().map(String)
}

/** Whether a line of X-Robots-Tag tells every robot to keep out of its index. */
function isForNoIndex(line: string): boolean {
  return !/^\s*[\w-]+\s*:/.test(line) && /(?:^|,)\s*(?:noindex|none)\s*(?:,|$)/i.test(line)
}
