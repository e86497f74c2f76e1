import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type HostileExchange, hostileExchange } from './hostile-requests.ts'
import { readStatuses } from './statuses.ts'

/** What came of the exchanges. */
export interface FuzzResult {
  exchanges: number
  /** How many there were of each status. */
  statuses: Map<number, number>
  /** Exchanges whose connection ended without an answer. */
  unanswered: number
  /** Seeds of exchanges that the server neither answered nor closed in time. */
  hangs: number[]
  /** Seeds of exchanges that were answered with a 5xx, but for what is no mistake of the server: 501, 503 and 505. */
  faults: number[]
  /** Seeds of exchanges whose answers are no HTTP. */
  garbled: number[]
  /** Seeds of exchanges of whole requests that had fewer answers, or more. */
  miscounted: number[]
}

/** Milliseconds: longer than the server itself waits for a client. */
const deadline = 20_000
/** Milliseconds that a client waits for an answer to what may be no request. */
const doubt = 50

/**
 * So many exchanges with the server on this port, one after another on each of a few lanes.
 * @param seed of the first, the next has the next
 */
export async function fuzz(port: number, count: number, seed: number, lanes = 32): Promise<FuzzResult> {
  const result: FuzzResult = {
    exchanges: 0,
    statuses: new Map(),
    unanswered: 0,
    hangs: [],
    faults: [],
    garbled: [],
    miscounted: [],
  }
  const end = seed + count
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
      result.statuses.set(status, (result.statuses.get(status) ?? 0) + 1)
      if (status === 500 || status === 502 || status === 504) result.faults.push(seed)
    }
  }
}

/** All that the server answered, until the client left or the server closed; hung is what takes too long. */
async function converse(
  port: number,
  { pieces, answers, end }: HostileExchange,
): Promise<{ bytes: string; isHung: boolean }> {
  const isHead = pieces.join('').startsWith('HEAD')
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    .setEncoding('latin1')
    .on('error', () => {})
  const closed = new Promise<void>(resolve => {
    socket.once('close', () => {
      resolve()
    })
  })
  let bytes = ''
  let isHung = false
  const answered = new Promise<void>(resolve => {
    socket.on('data', (text: string) => {
      bytes += text
      if ((readStatuses(bytes, isHead)?.length ?? 0) >= Math.max(answers, 1)) resolve()
    })
    // What the server has ended, the client ends.
    socket.once('end', () => {
      socket.end()
    })
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
