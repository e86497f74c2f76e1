import { executionAsyncResource } from 'node:async_hooks'
import { Stream } from 'node:stream'
import { dirname, join } from 'node:path'
import { type AnyFunction, isObject, listOf, propertyOf } from '../../../core/foreign-value.ts'
import type { Location } from '../../../core/profile.ts'
import { currentRecorder } from '../../../core/watch/current-recorder.ts'
import { beginQuery, type QueryCall, senderInRequest } from '../queries.ts'
import type { AskedQuery, Sender } from '../recorded-queries.ts'
import { type Driver, hear, numberIn, prototypeOf, replaceMethod, toldMethod, whenSet } from './driver.ts'

/**
 * postgres.js. A query is a promise: its constructor knows the caller, `handle` that it is awaited, and the connection
 * that it gets makes its statement.
 */
export const postgresDriver: Driver = {
  packages: ['postgres'],
  patch(exports) {
    const prototype = prototypeOf(exports, 'Query')
    whenSet(prototype, 'handler', rememberSender)
    whenSet(prototype, 'parameters', send)
    replaceMethod(prototype, 'handle', handle => toldMethod(handle, follow))
  },
  moduleFiles: file => [join(dirname(file), '..', '..', 'src', 'query.js')],
}

const senders = new WeakMap<object, Sender>()
const calls = new WeakMap<object, QueryCall>()

function rememberSender(query: object, _handler: unknown, below: AnyFunction): void {
  const sender = senderInRequest(askedBy(query), below)
  if (sender?.location) senders.set(query, sender)
}

/** The query, as far as it is known before it is sent: parts of statements and lists of columns are parameters. */
function askedBy(query: object): AskedQuery {
  const texts = listOf(propertyOf(query, 'strings'))
  const statement = texts.map((text, index) => (index === 0 ? '' : `$${index}`) + String(text)).join('')
  return { system: 'postgresql', statement, parameters: [], sender: senders.get(query) }
}

function follow(query: object, _args: readonly unknown[], below: AnyFunction): void {
  if (currentRecorder() === undefined) return
  const call = calls.get(query) ?? begin(query, below)
  if (call === null) return
  calls.set(query, call)
  // Each time, since a cursor sets new functions for each batch of rows.
  hear(query, 'resolve', result => {
    // COPY answers with a stream first.
    if (!(result instanceof Stream)) call.end('cursorFn' in query ? null : rowsIn(result), result, bytesOf(query))
  })
  hear(query, 'reject', error => call.fail(error))
}

function begin(query: object, below: AnyFunction): QueryCall | null {
  // What a connection asks for itself is executed by nobody else.
  const isOwn = propertyOf(propertyOf(query, 'handler'), 'name') === 'execute'
  if (isOwn || propertyOf(query, 'executed') === true) return null
  const call = beginQuery(askedBy(query), below)
  call?.waits()
  return call
}

/** What a connection was last seen to receive on, since it shows its socket to nobody, and how many queries it sent. */
interface Line {
  socket: object | null
  sent: number
}

const lines = new WeakMap<object, Line>()

/** The line of a query when it was sent, and how many bytes it had received. */
const linesBefore = new WeakMap<object, Line & { bytes: number }>()

function measure(query: object, connection: object): void {
  const line = lines.get(connection) ?? { socket: null, sent: 0 }
  line.sent++
  lines.set(connection, line)
  // With nothing ahead of it. The first query is sent while the connection receives that it is open.
  if (propertyOf(query, 'active') !== true) return
  const socket = line.socket ?? executionAsyncResource()
  linesBefore.set(query, { socket, sent: line.sent, bytes: numberIn(socket, 'bytesRead') })
}

/** The bytes of an answer that is being received; NaN if another query was sent before it came. */
function bytesOf(query: object): number {
  const before = linesBefore.get(query)
  const connection = propertyOf(query, 'state')
  const line = isObject(connection) ? lines.get(connection) : undefined
  if (before === undefined || line === undefined) return NaN
  line.socket = executionAsyncResource()
  const isOwn = before.sent === line.sent && before.socket === line.socket
  return isOwn ? numberIn(line.socket, 'bytesRead') - before.bytes : NaN
}

/** The lines that began the transaction of each connection. */
const begun = new WeakMap<object, Location | null>()

function send(query: object, values: unknown): void {
  const call = calls.get(query)
  const connection = propertyOf(query, 'state')
  if (!isObject(connection)) return
  measure(query, connection)
  if (call === undefined) return
  // Its values are converted to text in place.
  const parameters = [...listOf(values)]
  call.send({ ...askedBy(query), statement: String(propertyOf(query, 'string')), parameters, connection })
  if (propertyOf(propertyOf(query, 'options'), 'onexecute') !== undefined) begun.set(connection, call.query.location)
  call.query.location ??= begun.get(connection) ?? null
}

/** A text with several statements has a list of results, a description is none. */
function rowsIn(result: unknown): number | null {
  const count = propertyOf(result, 'count')
  if (typeof count === 'number') return count
  return count === null ? null : listOf(result).reduce((sum: number, one) => sum + (rowsIn(one) ?? 0), 0)
}
