import { createHash } from 'node:crypto'
import { attempt, isObject, propertyOf, textOf } from '../../core/foreign-value.ts'
import { type RequestTime, timeOf } from '../../core/intervals.ts'
import { type ConnectionWait, type Location, type Repetition, type Span, toMicroseconds } from '../../core/profile.ts'
import type { OpenSpan } from '../../core/watch/recorder.ts'
import { remedyOf, rolesIn } from './remedy.ts'
import { readShape } from '../../core/statement-shape.ts'
import { readStatement } from './statement.ts'

/** One query of a request, as its driver told of it. */
export interface RecordedQuery {
  /** "postgresql", "mysql", "mssql", "sqlite", "mongodb" or "redis". */
  system: string
  statement: string
  parameters: readonly unknown[]
  /** The caller; null if no code of the application is on the stack. */
  location: Location | null
  /** The lines that called the function with its location, nearest first. Missing if nobody looked for them. */
  callers?: readonly Location[]
  /** In milliseconds since the start of the request, as all times of a query. */
  readonly start: number
  /** When it had a connection; null before. */
  sent: number | null
  /** When it had its answer; undefined before. */
  ended?: number
  /** The start as stored, which a late end must not change: it replaces the same row. Undefined before. */
  shownStart?: number
  /** Its own time, without waits; null until it has ended. */
  duration: number | null
  /** The wait for a connection. */
  waited: number
  /** The time in which the event loop was blocked meanwhile. */
  blocked: number
  /** When it waited for a connection; null if it had one at once. */
  wait: ConnectionWait | null
  /** Null if unknown. */
  rows: number | null
  /** Those of its answer, as received; null if unknown. */
  bytes: number | null
  /** The number of its transaction in the request; null outside transactions. */
  transaction: number | null
  /** What the driver failed with; null for a success. */
  failure: { readonly error: unknown } | null
  /** One text for each question mark of its shape; empty until its parameters are known. */
  values: readonly string[]
  /** The shape whose result had a value that this one has instead of that of the query before. */
  suppliedBy: Shape | null
  readonly span: OpenSpan
}

/** Queries of one shape by one line. */
export interface Shape {
  /** The first statement, and without its values. */
  sql: string
  text: string
  system: string
  location: Location | null
  count: number
  /** The ids of the spans that are of one query. */
  spans: number[]
  /** The sum of the durations of all other queries. */
  unplaced: number
  locations: Location[]
  /** The values of the first queries, one text for each slot. */
  samples: Array<readonly string[]>
  latest: readonly string[]
  /** The callers of the function that has the line, as far as they were looked for. */
  callers: Set<Location | null>
  /** Queries that have a value of the result before, as in a walk of a list or tree, and the shape of that result. */
  supplied: number
  suppliedBy: Shape | null
  /** When the last one ended. */
  ended: number
  /** Equal queries after a pause in which nothing else was asked: polling. */
  polls: number
}

/** Fewer queries are not reported as a loop. */
export const loopFrom = 5

/** With fewer different values, the queries are no loop over a list. */
const distinctFrom = 3

/** From this many callers on, the function is called by several lines, and not by a loop. */
const callersFrom = 3

/** Milliseconds between two equal queries of somebody who waits for a change. */
const pauseFrom = 5

/** Limits per request. */
export const mostShapes = 1000
const mostLocations = 3
const mostFound = 20
const mostSamples = 20
const sampledCharacters = 100_000

/** Limits of the values of one query. */
const mostSlots = 20
const mostItems = 20
const longestValue = 200
const longestJson = 10_000

/** Between the items of a list in a value, and between the fields of a row. */
const item = '\0'
const field = '\u0001'

/** The rows that the next query of a walk has its value from: the first and the last, as the library made them. */
interface LastResult {
  shape: Shape
  rows: readonly unknown[]
}

export class Repetitions {
  /** By statement without values. Queries of one shape share their caller, too. */
  readonly #shapes = new Map<string, Shape[]>()
  readonly #reads = new Map<string, Shape>()
  /** How often each statement without values was asked. */
  readonly #asked = new Map<string, number>()
  /** How many statements have changed each table. */
  readonly #writes = new Map<string, number>()
  #count = 0
  #characters = 0
  #last: LastResult | null = null
  #lastRead: Shape | null = null

  /** A query is asked. @returns how often one of its shape was; 0 if that does not matter */
  ask({ statement, system }: Pick<RecordedQuery, 'statement' | 'system'>): number {
    const { isAllowed, isLoopable } = readStatement(statement)
    if (isAllowed || !isLoopable) return 0
    const text = textOfShape(statement, system)
    const count = (this.#asked.get(text) ?? 0) + 1
    if (count > 1 || this.#asked.size < mostShapes) this.#asked.set(text, count)
    return count
  }

  /** The parameters of a query are known, and it is about to be sent. */
  begin(query: RecordedQuery): void {
    const { parameters, statement, system } = query
    query.values = valuesOf(statement, system, parameters)
    const before = this.#shapes.get(textOfShape(statement, system))?.at(-1)
    const last = this.#last
    if (before === undefined || last === null || before.supplied < before.count - 1) return
    const changed = query.values.filter((value, index) => value !== before.latest[index])
    const isCounted = query.values.some((value, index) => Number(value) === Number(before.latest[index]) + 1)
    if (changed.length > 0 && last.rows.some(row => hasOneOf(row, changed, isCounted))) query.suppliedBy = last.shape
  }

  /** A query has ended. @param result what the library returned; undefined if that is unknown */
  end(query: RecordedQuery, result: unknown): void {
    const { callers, failure, suppliedBy, statement, system, values } = query
    const { name, transaction, isAllowed, isLoopable, isReading, isRepeatableRead } = readStatement(statement)
    if (transaction !== null || isAllowed) return
    const shape = this.#shapeOf(query)
    if (shape !== null) {
      count(shape, query)
      if (callers !== undefined) shape.callers.add(callers[0] ?? null)
      if (callers?.[0] !== undefined) addLocation(shape, callers[0])
      if (suppliedBy !== null) Object.assign(shape, { supplied: shape.supplied + 1, suppliedBy })
      const size = values.reduce((sum, { length }) => sum + length, 0)
      if (isLoopable && shape.samples.length < mostSamples && this.#characters + size <= sampledCharacters) {
        this.#characters += size
        shape.samples.push(values)
      }
      shape.latest = values
      this.#last = { shape, rows: endsOf(result) }
    }
    const [, table = ''] = name.split(' ')
    if (!isReading) this.#writes.set(table, (this.#writes.get(table) ?? 0) + 1)
    if (!isRepeatableRead || failure !== null) this.#lastRead = null
    else {
      this.#read(`${this.#writes.get(table) ?? 0}${system}${statement}${field}${values.join(field)}`, query)
    }
  }

  /** The most frequent first, limited to a readable number. */
  found(spans: readonly Span[], time: RequestTime): Repetition[] {
    const loops = [...this.#shapes.values()].flat().filter(isLoop)
    const inLoops = new Set(loops.map(({ sql }) => sql))
    const duplicates = [...this.#reads.values()].filter(
      ({ count, polls, sql }) => count - polls > 1 && !inLoops.has(sql),
    )
    return [...loops, ...duplicates]
      .sort((one, other) => other.count - one.count)
      .slice(0, mostFound)
      .map(shape => ({
        ...(loops.includes(shape) ? describeLoop(shape) : { kind: 'duplicate' }),
        sql: shape.sql,
        count: shape.count,
        duration: toMicroseconds(durationOf(shape, spans, time)),
        locations: shape.locations,
      }))
  }

  /** @returns null if there are too many shapes to add another */
  #shapeOf(query: RecordedQuery): Shape | null {
    const text = textOfShape(query.statement, query.system)
    const shapes = this.#shapes.get(text) ?? []
    // Equal locations are the same object.
    const known = shapes.find(shape => shape.location === query.location)
    if (known !== undefined) return known
    if (this.#count >= mostShapes) return null
    this.#count++
    const shape = newShape(query, text)
    shapes.push(shape)
    this.#shapes.set(text, shapes)
    return shape
  }

  #read(key: string, query: RecordedQuery): void {
    const isLast = this.#lastRead === this.#reads.get(key)
    let shape = this.#reads.get(key)
    if (shape === undefined) {
      if (this.#reads.size >= mostShapes || key.length > longestValue * mostSlots) return
      shape = newShape(query, '')
      this.#reads.set(key, shape)
    } else if (isLast && query.start - shape.ended >= pauseFrom) shape.polls++
    count(shape, query)
    shape.ended = query.start + query.waited + (query.duration ?? 0)
    this.#lastRead = shape
  }
}

function newShape({ location, statement, system }: RecordedQuery, text: string): Shape {
  const none = { spans: [], locations: [], samples: [], latest: [], callers: new Set<Location | null>() }
  const zero = { count: 0, unplaced: 0, supplied: 0, ended: 0, polls: 0 }
  return { sql: statement, text, system, location, suppliedBy: null, ...zero, ...none }
}

function count(shape: Shape, { duration, location, span }: RecordedQuery): void {
  shape.count++
  if (span.id === null) shape.unplaced += duration ?? 0
  else shape.spans.push(span.id)
  if (location !== null) addLocation(shape, location)
}

function addLocation({ locations }: Shape, location: Location): void {
  if (locations.length < mostLocations && !locations.includes(location)) locations.push(location)
}

/** A statement without its values, which commands and documents have apart. */
function textOfShape(statement: string, system: string): string {
  return hasStatements(system) ? readShape(statement).shape : statement
}

function hasStatements(system: string): boolean {
  return system !== 'redis' && system !== 'mongodb'
}

/** The values of a query, one text for each slot of its shape. Those of a list are in one text. */
function valuesOf(statement: string, system: string, parameters: readonly unknown[]): readonly string[] {
  if (system === 'redis') {
    const isList = /^(?:mget|del|unlink|exists|touch)$/.test(statement)
    return isList ? [textsIn(parameters).join(item)] : textsIn(parameters)
  }
  if (system === 'mongodb') return fieldsIn(parameters[0]).slice(0, mostSlots)
  const { slots } = readShape(statement)
  const textOfSource = (source: number | string) =>
    valueText(typeof source === 'number' ? parameters[source] : named(source, parameters[0]))
  const kept = slots.slice(0, mostSlots).map(({ isList, sources }) => {
    const texts = sources.slice(0, mostItems).map(textOfSource)
    if (sources.length > mostItems) texts.push(fingerprint(sources.slice(mostItems).map(textOfSource).join(field)))
    return texts.join(isList ? item : field)
  })
  const others = slots.slice(mostSlots).flatMap(({ sources }) => sources.map(textOfSource))
  return others.length === 0 ? kept : [...kept, fingerprint(others.join(field))]
}

/** Stands for a long value, whose whole text is not kept. */
function fingerprint(value: string | Uint8Array): string {
  return createHash('sha1').update(value).digest('base64')
}

/** A literal as it is, and the value of a parameter with a name. */
function named(source: string, parameters: unknown): unknown {
  if (/^[:@]/.test(source)) return propertyOf(parameters, source.slice(1))
  return source.replace(/^e?'|'$/gi, '')
}

/** @param depth the lists in lists that are read */
function valueText(value: unknown, depth = 4): string {
  if (Array.isArray(value)) return depth === 0 ? '…' : textsIn(value, depth - 1).join(item)
  if (ArrayBuffer.isView(value)) return fingerprint(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
  if (isObject(value) && !(value instanceof Date)) return fieldsIn(value).join(field).replaceAll(item, ',')
  const text = value instanceof Date ? String(Number(value)) : textOf(value)
  // Lists are also written as an array of PostgreSQL, or as JSON.
  if (text.length < longestJson && depth > 0) {
    const isArray = text.startsWith('{') && text.endsWith('}') && text.includes(',') && !text.includes(':')
    if (isArray) return text.slice(1, -1).replaceAll(',', item)
    const list = text.startsWith('[') ? attempt((): unknown => JSON.parse(text), null) : null
    if (Array.isArray(list)) return textsIn(list, depth - 1).join(item)
  }
  return text.length > longestValue ? `${text.slice(0, longestValue)}… ${fingerprint(text)}` : text
}

function textsIn(values: readonly unknown[], depth?: number): string[] {
  const texts = values.slice(0, mostItems).map(value => valueText(value, depth))
  if (values.length > mostItems) texts.push(fingerprint(values.slice(mostItems).map(textOf).join(field)))
  return texts
}

/** The values of a document's fields, however deep, with those of each list as one. */
function fieldsIn(value: unknown, depth = 4): string[] {
  if (Array.isArray(value) && value.length !== 1) return [value.slice(0, mostItems).map(textOf).join(item)]
  const isPlain = Array.isArray(value) || (isObject(value) && textOf(value) === '[object Object]')
  if (!isPlain || depth === 0) return [textOf(value)]
  return Object.values(value)
    .slice(0, mostSlots)
    .flatMap((field: unknown) => fieldsIn(field, depth - 1))
}

/** The first and the last row of a result. */
function endsOf(result: unknown): readonly unknown[] {
  const rows: unknown = propertyOf(result, 'rows') ?? result
  if (!Array.isArray(rows)) return [rows]
  // mysql2 answers with a list of rows and a list of columns.
  const list: readonly unknown[] = Array.isArray(rows[0]) ? rows[0] : rows
  return [list[0], list.at(-1)]
}

/** Columns that a walk goes on with. */
const reference = /(?:id|next|parent|prev\w*|child|link|ref|key)$/i

/**
 * Whether a row has one of the values. A key of Redis ends with what was read.
 * @param isCounted whether the values are one more than before, which any column may be by chance
 */
function hasOneOf(row: unknown, values: readonly string[], isCounted: boolean): boolean {
  if (Buffer.isBuffer(row)) return hasOneOf(String(row.subarray(0, longestValue)), values, isCounted)
  if (typeof row === 'string') return row !== '' && values.some(value => value.endsWith(row))
  if (!isObject(row)) return false
  return Object.entries(row)
    .slice(0, mostItems)
    .some(([column, value]) => (!isCounted || reference.test(column)) && values.includes(valueText(value)))
}

const severalRows = /\bvalues\s*\(.*\)\s*,\s*\(/i

/** Whether one line asked again and again for a single thing, which one statement could have asked for at once. */
function isLoop(shape: Shape): boolean {
  const { callers, count, samples } = shape
  if (count < loopFrom || samples.length < loopFrom || callers.size >= callersFrom) return false
  if (severalRows.test(shape.text) || isWalk(shape, [])) return false
  if (new Set(samples.map(values => values.join(field))).size < distinctFrom) return false
  const roles = hasStatements(shape.system) ? rolesIn(shape.text) : []
  const varying = (samples[0] ?? []).flatMap((first, index) => {
    const values = samples.map(sample => sample[index] ?? '')
    return values.some(value => value !== first) ? [{ values, role: roles[index]?.role ?? 'equal' }] : []
  })
  // Pages, and a value that is written again and again.
  if (varying.some(({ role }) => role === 'page') || varying.every(({ role }) => role === 'set')) return false
  return varying.every(({ values }) => !values.some(value => value.includes(item)) || isGrowing(values))
}

/** Whether each list is the one before with one value more. */
function isGrowing(lists: readonly string[]): boolean {
  return lists.slice(1).every((list, index) => {
    const before = `${lists[index]}${item}`
    return list.startsWith(before) && !list.slice(before.length).includes(item)
  })
}

/** Whether each value came from the result before, and that of the result before as well. */
function isWalk(shape: Shape, seen: readonly Shape[]): boolean {
  const { count, suppliedBy, supplied } = shape
  if (suppliedBy === null || supplied < count - 1) return false
  return suppliedBy === shape || seen.includes(shape) || isWalk(suppliedBy, [...seen, shape])
}

function describeLoop(shape: Shape): Pick<Repetition, 'kind' | 'remedy'> {
  const { isReading, isWriting } = readStatement(shape.sql)
  const [first = [], ...others] = shape.samples
  const slots = Math.max(...shape.samples.map(({ length }) => length))
  const varying = Array.from({ length: slots }, (_, index) => others.some(sample => sample[index] !== first[index]))
  return { kind: isWriting && !isReading ? 'writes' : 'loop', remedy: remedyOf(shape, varying) }
}

/** The time in which at least one of the queries ran. An upper bound if other queries share their spans. */
function durationOf({ spans: ids, unplaced }: Shape, spans: readonly Span[], time: RequestTime): number {
  const own = ids.flatMap(id => spans[id] ?? [])
  const placed = timeOf('query', own, time)
  if (unplaced === 0) return placed
  const shared = spans.filter(({ shared }) => shared !== undefined)
  return Math.min(placed + unplaced, timeOf('query', [...own, ...shared], time))
}
