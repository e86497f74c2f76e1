import { performance } from 'node:perf_hooks'
import type { Server } from 'node:http'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import * as limits from './limits.ts'
import type { OpenConnections } from './open-connections.ts'

/** In milliseconds. */
export interface ClosingTimes {
  /** How long closing servers still accept connections. */
  lameDuck: number
  /** How long a half-sent request may then take to arrive. */
  patience: number
}

/**
 * Stops accepting connections after a lull. Then closes each connection after its pending responses, or after another
 * lull if it is idle. Half-sent requests and clients that do not read get `patience`.
 */
export async function closeInOrder(
  servers: Iterable<Server>,
  connections: OpenConnections,
  { lameDuck, patience }: ClosingTimes,
): Promise<void> {
  const lull = Math.min(limits.lull, lameDuck)
  await silence(
    () => connections.arrivals,
    () => pass(lull),
    lameDuck,
  )
  // A response would now close its connection, and the client would reconnect.
  const beginHeld = connections.hold()
  await silence(
    () => connections.accepted,
    () => pass(lull),
    lameDuck,
  )
  // Closing a listening socket resets the connections in its backlog. Each turn accepts only one of them.
  await silence(() => connections.accepted, turn, patience)
  const closed = Array.from(servers, closeServer)
  beginHeld()
  for (const connection of connections.all()) connection.end()
  await pass(lull)
  for (const connection of connections.all()) connection.endIdle()
  const impatience = setInterval(() => {
    for (const connection of connections.all()) connection.giveUp()
  }, patience)
  await Promise.all(closed)
  // Node does not count connections that were handed over.
  await connections.closed()
  clearInterval(impatience)
}

/** Repeats the wait until the count stops changing, for at most `longest` milliseconds. */
async function silence(count: () => number, wait: () => Promise<void>, longest: number): Promise<void> {
  const end = performance.now() + longest
  let seen: number
  do {
    seen = count()
    await wait()
  } while (seen !== count() && performance.now() < end)
}

/** Resolves after the event loop has read everything that arrived during a lull. */
async function pass(lull: number): Promise<void> {
  await sleep(lull)
  await turn()
}

function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => {
      resolve()
    })
  })
}
