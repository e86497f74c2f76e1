import type { IncomingMessage } from 'node:http'
import { attempt } from '../base/foreign-value.ts'
import { requestHost } from '../base/request-host.ts'

/**
 * Whether a page of this very origin sent a request. Browsers say so themselves; older ones name the page's origin,
 * whose host must be the one that was asked for.
 */
export function isSameOrigin(raw: IncomingMessage): boolean {
  const { origin, 'sec-fetch-site': site } = raw.headers
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined) return false
  return attempt(() => new URL(origin).host, null) === requestHost(raw)
}
