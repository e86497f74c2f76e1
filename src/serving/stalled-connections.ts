// With `server.timeout` Node would start a timer for each request, which costs 0.4 to 0.7 µs of CPU of a small
// request's 13: `npm run -w bench timeouts`.
import type { OpenConnections } from './open-connections.ts'

/**
 * Closes connections that are silent during a request. Times are milliseconds.
 * @param timeout the silence that closes a connection
 * @param interval how often new requests get this timeout
 * @returns a function that stops it
 */
export function closeStalled(connections: OpenConnections, timeout: number, interval: number): () => void {
  const check = setInterval(() => {
    for (const connection of connections.all()) connection.limitSilence(timeout)
  }, interval).unref()
  return () => {
    clearInterval(check)
  }
}
