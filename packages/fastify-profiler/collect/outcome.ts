import type { Outcome } from '../base/profile.ts'
import type { Exchange } from '../watch/exchange.ts'

/** How an exchange ended. */
export function outcomeOf({ raw, response, answer, upgrade, hijacked, finished }: Exchange): Outcome {
  // HTTP/2 emits `finish` for a broken response too.
  if (answer.brokenOff) return 'broken'
  if (finished) return hijacked ? 'hijacked' : 'completed'
  if (upgrade?.status === 101) return 'upgraded'
  // The application refused the upgrade on the socket.
  if (upgrade !== null && upgrade.status !== null) return 'hijacked'
  return response.destroyed || raw.socket?.destroyed ? 'aborted' : 'unfinished'
}
