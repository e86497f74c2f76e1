import type { Socket } from 'node:net'
import pg from 'pg'
import type { Test } from 'tap'
import { standIn } from './stand-in-server.ts'

/** A message of PostgreSQL's protocol, from the server. */
function message(type: string, ...parts: Array<Buffer | string | number>): Buffer {
  const body = Buffer.concat(
    parts.map(part =>
      Buffer.isBuffer(part) ? part : typeof part === 'string' ? Buffer.from(`${part}\0`) : int16(part),
    ),
  )
  const head = Buffer.from(`${type}....`)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2)
  buffer.writeInt16BE(value)
  return buffer
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(value)
  return buffer
}

const column = [1, 'one', int32(0), 0, int32(25), -1, int32(-1), 0] as const

/** The answer to a statement, without ReadyForQuery: an error, a transaction's tag, or one row. */
function answerTo(sql: string): Buffer {
  if (sql.startsWith('fail')) {
    return message('E', Buffer.from(`SERROR\0C42601\0Mcannot ${sql}\0\0`))
  }
  if (/^(?:begin|commit|rollback)/i.test(sql)) return message('C', sql.toUpperCase())
  const row = message('D', 1, int32(1), Buffer.from('1'))
  return Buffer.concat([message('T', ...column), row, message('C', 'SELECT 1')])
}

/** The parameters of a statement that is prepared, and its column. */
function descriptionOf(sql: string): Buffer {
  const parameters = sql.match(/\$\d/g) ?? []
  return Buffer.concat([
    message('1'),
    message('t', parameters.length, ...parameters.map(() => int32(25))),
    message('T', ...column),
  ])
}

/**
 * Stands in for PostgreSQL: it answers every statement with one row. "fail" fails, and "sleep 20" takes 20 ms, as does
 * opening a connection for a user of this name.
 * @returns the port
 */
export function servePostgres(t: Test): Promise<number> {
  return standIn(t, serve)
}

/** A pool of connections to the stand-in. */
export function openPool(t: Test, port: number, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'tester', ...options })
  t.teardown(() => pool.end())
  return pool
}

function serve(socket: Socket): void {
  let received = Buffer.alloc(0)
  let hasBegun = false
  let sql = ''
  let hasFailed = false
  let status = 'I'
  const ready = () => message('Z', Buffer.from(status))
  let answers = Promise.resolve()
  const run = (text: string) => {
    if (/^(?:begin|commit|rollback)/i.test(text)) status = text.startsWith('begin') ? 'T' : 'I'
    return answerTo(text)
  }
  const answer = (text: string, bytes: () => Buffer) => {
    const [, milliseconds = '0'] = /sleep (\d+)/.exec(text) ?? []
    answers = answers
      .then(() =>
        milliseconds === '0' ? undefined : new Promise(resolve => setTimeout(resolve, Number(milliseconds))),
      )
      .then(() => {
        socket.write(bytes())
      })
  }
  socket.on('data', data => {
    received = Buffer.concat([received, data])
    for (;;) {
      const at = hasBegun ? 1 : 0
      if (received.length < at + 4) return
      const length = received.readInt32BE(at) + at
      if (received.length < length) return
      const type = hasBegun ? String.fromCharCode(received.readUInt8(0)) : 'startup'
      const body = received.subarray(at + 4, length)
      received = received.subarray(length)
      hasBegun = true
      if (type === 'startup') answer(String(body), () => Buffer.concat([message('R', int32(0)), ready()]))
      if (type === 'Q') {
        const text = String(body.subarray(0, -1))
        answer(text, () => Buffer.concat([run(text), ready()]))
      }
      if (type === 'P') sql = String(body.subarray(body.indexOf(0) + 1)).replace(/\0.*/s, '')
      if (type === 'D' && String(body).startsWith('S')) {
        const text = sql
        hasFailed = text.startsWith('fail')
        answer('', () => (text.startsWith('fail') ? answerTo(text) : descriptionOf(text)))
      }
      if (type === 'E' && !hasFailed) {
        const text = sql
        answer(text, () => Buffer.concat([message('1'), message('2'), run(text)]))
      }
      if (type === 'S') {
        hasFailed = false
        answer('', ready)
      }
      if (type === 'X') socket.end()
    }
  })
}
