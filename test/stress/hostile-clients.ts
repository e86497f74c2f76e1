import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type HostileExchange, hostileExchange } from './hostile-requests.ts'
import { count, readStatuses } from './statuses.ts'

/** The outcome of the exchanges. */
export interface FuzzResult {
  exchanges: number
  /** The number of responses by status. */
  statuses: Map<number, number>
  /** Exchanges whose connection ended without an answer. */
  unanswered: number
  /** Seeds of exchanges that the server neither answered nor closed in time. */
  hangs: number[]
  /** Seeds of exchanges answered with a 5xx other than 501, 503 and 505, which are not the server's fault. */
  faults: number[]
  /** Seeds of exchanges whose response is not HTTP. */
  garbled: number[]
  /** Seeds of exchanges of whole requests with too few or too many responses. */
  miscounted: number[]
}

/** Milliseconds, longer than the server waits for a client. */
const deadline = 20_000
/** Milliseconds that a client waits for a response to what may not be a request. */
const doubt = 50

/**
 * Runs this many exchanges with the server on this port, in several lanes at once.
 * @param seed of the first exchange; each further one adds 1
 */
export async function fuzz(port: number, exchanges: number, seed: number, lanes = 32): Promise<FuzzResult> {
  const result: FuzzResult = {
    exchanges: 0,
    statuses: new Map(),
    unanswered: 0,
    hangs: [],
    faults: [],
    garbled: [],
    miscounted: [],
  }
  const end = seed + exchanges
  let next = seed
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (next < end) await tell(next++)
    }),
  )
  return result

  async function tell(seed: number): Promise<void> {
    const exchange = hostileExchange(seed)
    const { bytes, isHung } = await converse(port, exchange)
    const statuses = readStatuses(bytes, exchange.pieces.join('').startsWith('HEAD'))
    result.exchanges++
    if (isHung) result.hangs.push(seed)
    if (statuses === null) result.garbled.push(seed)
    else if (statuses.length === 0) result.unanswered++
    if (exchange.answers > 0 && statuses?.length !== exchange.answers) result.miscounted.push(seed)
    for (const status of statuses ?? []) {
      count(result.statuses, status)
      if (status === 500 || status === 502 || status === 504) result.faults.push(seed)
    }
  }
}

/** Everything the server sent until either side closed. An exchange is hung if it takes too long. */
async function converse(
  port: number,
  { pieces, answers, end }: HostileExchange,
): Promise<{ bytes: string; isHung: boolean }> {
  const isHead = pieces.join('').startsWith('HEAD')
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    .setEncoding('latin1')
    .on('error', () => {})
  const closed = new Promise<void>(resolve => {
    socket.once('close', () => resolve())
  })
  let bytes = ''
  let isHung = false
  const answered = new Promise<void>(resolve => {
    socket.on('data', (text: string) => {
      bytes += text
      if ((readStatuses(bytes, isHead)?.length ?? 0) >= Math.max(answers, 1)) resolve()
    })
    // Closes its half once the server has closed its own.
    socket.once('end', () => socket.end())
  })
  const timer = setTimeout(() => {
    isHung = true
    socket.destroy()
  }, deadline)
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    if (pieces.length > 1) await new Promise(resolve => setImmediate(resolve))
  }
  await Promise.race(answers > 0 ? [answered, closed] : [answered, closed, sleep(doubt)])
  if (end === 'half-close') socket.end()
  else if (end === 'reset') socket.resetAndDestroy()
  else socket.destroy()
  await closed
  clearTimeout(timer)
  return { bytes, isHung }
}
