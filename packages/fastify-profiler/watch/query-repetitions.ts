import { toMicroseconds } from '../base/microseconds.ts'
import type { Location, Repetition } from '../base/profile.ts'
import { factsOf } from '../base/statement.ts'

interface Shape {
  sql: string
  /** The caller of the first. */
  location: Location | null
  count: number
  duration: number
  locations: Location[]
  /** The parameters of the first query, and whether later ones differ. */
  fingerprint: string | null
  varies: boolean
}

/** Fewer queries are not reported as a loop. */
const loopFrom = 5

/** Limits per request. */
const mostShapes = 1000
const mostLocations = 3
const mostFound = 20
const longestFingerprint = 1000

/** Finds the repeated queries of one request. */
export class Repetitions {
  /** By statement. Queries of one shape share their caller, too. */
  readonly #shapes = new Map<string, Shape[]>()
  /** By statement and parameters. */
  readonly #reads = new Map<string, Shape>()
  #count = 0

  add(sql: string, parameters: readonly unknown[], location: Location | null, duration: number): void {
    const { transaction, isAllowed, isReading } = factsOf(sql)
    if (transaction !== null || isAllowed) return
    const fingerprint = fingerprintOf(parameters)
    const shape = this.#shapeOf(sql, fingerprint, location)
    if (shape !== null) {
      count(shape, location, duration)
      if (fingerprint === null || fingerprint !== shape.fingerprint) shape.varies = true
    }
    if (fingerprint !== null && isReading) this.#read(sql, fingerprint, location, duration)
  }

  /** The most frequent first, limited to a readable number. */
  found(): Repetition[] {
    const loops = [...this.#shapes.values()].flat().filter(({ count, varies }) => count >= loopFrom && varies)
    const inLoops = new Set(loops.map(({ sql }) => sql))
    const duplicates = [...this.#reads.values()].filter(({ count, sql }) => count > 1 && !inLoops.has(sql))
    return [...loops.map(shape => describe('loop', shape)), ...duplicates.map(shape => describe('duplicate', shape))]
      .sort((one, other) => other.count - one.count)
      .slice(0, mostFound)
  }

  /** @returns null if there are too many shapes to add another */
  #shapeOf(sql: string, fingerprint: string | null, location: Location | null): Shape | null {
    const shapes = this.#shapes.get(sql) ?? []
    // Equal locations are the same object.
    const known = shapes.find(shape => shape.location === location)
    if (known !== undefined) return known
    if (this.#count >= mostShapes) return null
    this.#count++
    const shape = newShape(sql, fingerprint, location)
    shapes.push(shape)
    this.#shapes.set(sql, shapes)
    return shape
  }

  #read(sql: string, fingerprint: string, location: Location | null, duration: number): void {
    const key = `${sql}\0${fingerprint}`
    let shape = this.#reads.get(key)
    if (shape === undefined) {
      if (this.#reads.size >= mostShapes) return
      shape = newShape(sql, fingerprint, location)
      this.#reads.set(key, shape)
    }
    count(shape, location, duration)
  }
}

function newShape(sql: string, fingerprint: string | null, location: Location | null): Shape {
  return { sql, location, count: 0, duration: 0, locations: [], fingerprint, varies: false }
}

function count(shape: Shape, location: Location | null, duration: number): void {
  const { locations } = shape
  shape.count++
  shape.duration += duration
  if (location !== null && locations.length < mostLocations && !locations.includes(location)) locations.push(location)
}

function describe(kind: Repetition['kind'], { sql, count, duration, locations }: Shape): Repetition {
  return { kind, sql, count, duration: toMicroseconds(duration), locations }
}

/** A text that is equal for equal parameters only; null if it would cost too much. */
function fingerprintOf(parameters: readonly unknown[]): string | null {
  let text = ''
  for (const parameter of parameters) {
    if (typeof parameter === 'object' && parameter !== null && !(parameter instanceof Date)) return null
    text += `${typeof parameter} ${parameter instanceof Date ? Number(parameter) : String(parameter)}\0`
    if (text.length > longestFingerprint) return null
  }
  return text
}
