import { BSON } from 'mongodb'
import type { Test } from 'tap'
import { standIn } from './stand-in-server.ts'

type Document = Record<string, unknown>

/** Stands in for MongoDB: it finds one document and changes one. The collection "fail" fails. @returns the port */
export function serveMongodb(t: Test): Promise<number> {
  return standIn(t, socket => {
    let received = Buffer.alloc(0)
    socket.on('data', data => {
      received = Buffer.concat([received, data])
      while (received.length >= 16 && received.length >= received.readInt32LE(0)) {
        const length = received.readInt32LE(0)
        const message = received.subarray(0, length)
        received = received.subarray(length)
        socket.write(reply(message.readInt32LE(4), answerTo(documentIn(message))))
      }
    })
  })
}

/** The first section of an OP_MSG. */
function documentIn(message: Buffer): Document {
  return BSON.deserialize(message.subarray(21, 21 + message.readInt32LE(21)))
}

function reply(to: number, answer: Document): Buffer {
  const body = Buffer.from(BSON.serialize(answer))
  const head = Buffer.alloc(21)
  head.writeInt32LE(21 + body.length, 0)
  head.writeInt32LE(to, 8)
  head.writeInt32LE(2013, 12)
  return Buffer.concat([head, body])
}

function answerTo(command: Document): Document {
  if (Object.values(command)[0] === 'fail') return { ok: 0, code: 13, errmsg: 'cannot do that' }
  if ('find' in command || 'aggregate' in command) {
    return { ok: 1, cursor: { id: BSON.Long.ZERO, ns: 'museum.art', firstBatch: [{ name: 'Mona Lisa' }] } }
  }
  if ('update' in command || 'insert' in command) return { ok: 1, n: 1, nModified: 1 }
  const limits = { maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 }
  return { ok: 1, helloOk: true, isWritablePrimary: true, minWireVersion: 0, maxWireVersion: 21, ...limits }
}
