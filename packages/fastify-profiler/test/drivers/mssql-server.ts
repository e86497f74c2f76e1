import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { standIn } from './stand-in-server.ts'

/** The kinds of messages of TDS that a client sends. */
const kinds = { batch: 1, rpc: 3, attention: 6, bulk: 7, transaction: 14, prelogin: 18 }

/** Procedures that have a number instead of a name. */
const numbered: Record<number, string> = { 10: 'sp_executesql', 11: 'sp_prepare', 12: 'sp_execute', 15: 'sp_unprepare' }

/**
 * Stands in for SQL Server: it answers every statement with one row. "fail" fails, "sleep 20" takes 20 ms, and the
 * answer to "hang" ends only when it is cancelled.
 * @returns the port
 */
export function serveMssql(t: Test): Promise<number> {
  return standIn(t, socket => {
    let received = Buffer.alloc(0)
    let message = Buffer.alloc(0)
    socket.on('data', data => {
      received = Buffer.concat([received, data])
      while (received.length >= 8 && received.length >= received.readUInt16BE(2)) {
        const length = received.readUInt16BE(2)
        const [kind = 0, status = 0] = received
        message = Buffer.concat([message, received.subarray(8, length)])
        received = received.subarray(length)
        // The last packet of a message.
        if ((status & 1) === 0) continue
        answer(socket, kind, message)
        message = Buffer.alloc(0)
      }
    })
  })
}

function answer(socket: Socket, kind: number, message: Buffer): void {
  // Parameters lie between other bytes, so that a text may begin at any of them.
  const text = message.toString('utf16le') + message.subarray(1).toString('utf16le')
  const [, milliseconds = '0'] = /sleep (\d+)/.exec(text) ?? []
  setTimeout(() => {
    // What is cancelled is answered before that is acknowledged.
    const bodies = kind === kinds.attention ? [done(0), done(0x20)] : [bodyFor(kind, message, text)]
    const status = text.includes('hang') ? 0 : 1
    for (const body of bodies) {
      socket.write(Buffer.concat([Buffer.from([4, status, 0, body.length + 8, 0, 0, 1, 0]), body]))
    }
  }, Number(milliseconds))
}

function bodyFor(kind: number, message: Buffer, text: string): Buffer {
  if (kind === kinds.prelogin) return Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 255, 16, 0, 0, 0, 0, 0, 2])
  if (kind === kinds.bulk) return done(0x10, 2)
  if (kind === kinds.transaction) return Buffer.concat([change(message), done(0)])
  if (kind !== kinds.batch && kind !== kinds.rpc) return Buffer.concat([loginAck, done(0)])
  if (text.includes('fail')) return Buffer.concat([failure('cannot fail'), done(2)])
  // Of a bulk load, and of a connection that opens.
  if (/^.{0,30}(?:insert bulk|set )/s.test(text)) return done(0)
  const isNumbered = message.readUInt16LE(22) === 0xffff
  const procedure = kind === kinds.rpc && isNumbered ? numbered[message.readUInt16LE(24)] : /sp_\w+/.exec(text)?.[0]
  if (procedure === 'sp_prepare') return Buffer.concat([handle, done(0)])
  return text.includes('hang') ? row : Buffer.concat([row, done(0x10, 1)])
}

/** @param status 2: an error, 16: with a count, 32: of an attention */
function done(status: number, count = 0): Buffer {
  const token = Buffer.alloc(13)
  token.writeUInt8(0xfd, 0)
  token.writeUInt16LE(status, 1)
  token.writeUInt32LE(count, 5)
  return token
}

/** A text with its length in one byte. */
function short(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'utf16le')])
}

function token(type: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([type, body.length & 255, body.length >> 8]), body])
}

const loginAck = token(0xad, Buffer.from([1, 0x74, 0, 0, 4]), short('stand-in'), Buffer.from([16, 0, 0, 0]))

function failure(text: string): Buffer {
  const head = Buffer.from([102, 0, 0, 0, 1, 15, text.length, 0])
  return token(0xaa, head, Buffer.from(text, 'utf16le'), Buffer.from([0, 0, 1, 0, 0, 0]))
}

/** A column "one", and its row 1. */
const row = Buffer.concat([
  Buffer.from([0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x38]),
  short('one'),
  Buffer.from([0xd1, 1, 0, 0, 0]),
])

/** The output parameter of sp_prepare. */
const handle = Buffer.concat([
  Buffer.from([0xac, 0, 0]),
  short('@handle'),
  Buffer.from([1, 0, 0, 0, 0, 0, 0, 0x26, 4, 4, 7, 0, 0, 0]),
])

/** A transaction has begun or ended. A savepoint changes nothing. */
function change(message: Buffer): Buffer {
  const descriptor = [8, 1, 2, 3, 4, 5, 6, 7, 8]
  const changes: Record<number, number[]> = {
    5: [8, ...descriptor, 0],
    7: [9, 0, ...descriptor],
    8: [10, 0, ...descriptor],
  }
  const bytes = changes[message.readUInt16LE(22)]
  return bytes === undefined ? Buffer.alloc(0) : token(0xe3, Buffer.from(bytes))
}
