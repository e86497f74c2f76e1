import { isObject, propertyOf } from '../../../core/foreign-value.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import { type Driver, prototypeOf, replaceMethod, watchedMethod } from './driver.ts'

/** MongoDB's driver: an operation knows its caller, the command on a connection what is sent. It has no channel. */
export const mongodbDriver: Driver = {
  packages: ['mongodb'],
  patch(exports) {
    replaceMethod(exports, 'executeOperation', execute =>
      watchedMethod(execute, { read: readOperation, rowsIn: changedBy }),
    )
    const connection = prototypeOf(exports, 'Connection')
    if (connection === null || !('sendCommand' in connection)) return
    replaceMethod(connection, 'command', command => watchedMethod(command, { read: readCommand, rowsIn }))
  },
}

/** Commands that keep a connection, whichever request opens it. */
const housekeeping = /^(?:hello|ismaster|ping|sasl\w*|authenticate|endSessions|killCursors)$/i

/** What every command has, and nobody asked for. */
const envelope = /^(?:lsid|txnNumber|\$.*)$/

function readOperation([, operation]: readonly unknown[]): AskedQuery | null {
  const name = textIn(operation, 'commandName')
  if (name === '' || housekeeping.test(name)) return null
  const collection = textIn(propertyOf(operation, 'ns'), 'collection')
  // Only the command of some operations, such as aggregate, has their collection.
  const statement = statementOf(name, collection === '$cmd' ? '' : collection)
  return { system: 'mongodb', statement, parameters: [] }
}

/** A command's first field is its name, with the collection; all others are what it asks for. */
function readCommand([, command]: readonly unknown[], connection: object): AskedQuery | null {
  const [[name, target] = ['', ''], ...others] = isObject(command) ? Object.entries(command) : []
  if (name === '' || housekeeping.test(name)) return null
  const collection = typeof target === 'string' ? target : textIn(command, 'collection')
  const asked = Object.fromEntries(others.filter(([field]) => !envelope.test(field)))
  return { system: 'mongodb', statement: statementOf(name, collection), parameters: [asked], connection }
}

function statementOf(name: string, collection: string): string {
  return `${name} ${collection}`.trim()
}

/** A cursor has the documents of its first batch. */
function rowsIn(result: unknown): number | null {
  const count = propertyOf(result, 'batchSize')
  return typeof count === 'number' ? count : null
}

function changedBy(result: unknown): number | null {
  for (const name of ['matchedCount', 'deletedCount', 'insertedCount']) {
    const count = propertyOf(result, name)
    if (typeof count === 'number') return count
  }
  return null
}

function textIn(value: unknown, name: string): string {
  const text: unknown = propertyOf(value, name)
  return typeof text === 'string' ? text : ''
}
