import { type Location, toMicroseconds } from 'fastify-profiler'
import { fingerprintOf } from './query-parameters.ts'
import { isReading, isTransactionControl } from './sql.ts'

/** A query that ran more often than necessary. */
export interface Repetition {
  /** loop: one line ran it with different parameters (N+1). duplicate: a read with the same parameters. */
  kind: 'loop' | 'duplicate'
  sql: string
  count: number
  /** Total time in milliseconds. */
  duration: number
  /** The callers: one of a loop, the first few of duplicates. */
  locations: Location[]
}

interface Shape {
  sql: string
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

/** Finds the repeated queries of one request. */
export class Repetitions {
  /** By statement and caller. */
  readonly #shapes = new Map<string, Shape>()
  /** By statement and parameters. */
  readonly #reads = new Map<string, Shape>()

  add(sql: string, parameters: readonly unknown[], location: Location | null, duration: number): void {
    if (isTransactionControl(sql)) return
    const fingerprint = fingerprintOf(parameters)
    const shape = count(this.#shapes, `${placeOf(location)} ${sql}`, sql, fingerprint, location, duration)
    if (shape !== null && (fingerprint === null || fingerprint !== shape.fingerprint)) shape.varies = true
    if (fingerprint !== null && isReading(sql)) {
      count(this.#reads, `${sql}\0${fingerprint}`, sql, fingerprint, location, duration)
    }
  }

  /** The most frequent first, limited to a readable number. */
  found(): Repetition[] {
    const loops = [...this.#shapes.values()].filter(({ count, varies }) => count >= loopFrom && varies)
    const inLoops = new Set(loops.map(({ sql }) => sql))
    const duplicates = [...this.#reads.values()].filter(({ count, sql }) => count > 1 && !inLoops.has(sql))
    return [...loops.map(shape => describe('loop', shape)), ...duplicates.map(shape => describe('duplicate', shape))]
      .sort((one, other) => other.count - one.count)
      .slice(0, mostFound)
  }
}

/** @returns null if there are too many shapes to add another */
function count(
  shapes: Map<string, Shape>,
  key: string,
  sql: string,
  fingerprint: string | null,
  location: Location | null,
  duration: number,
): Shape | null {
  let shape = shapes.get(key)
  if (shape === undefined) {
    if (shapes.size >= mostShapes) return null
    shape = { sql, count: 0, duration: 0, locations: [], fingerprint, varies: false }
    shapes.set(key, shape)
  }
  shape.count++
  shape.duration += duration
  // Equal locations are the same object.
  if (location !== null && shape.locations.length < mostLocations && !shape.locations.includes(location)) {
    shape.locations.push(location)
  }
  return shape
}

function describe(kind: Repetition['kind'], { sql, count, duration, locations }: Shape): Repetition {
  return { kind, sql, count, duration: toMicroseconds(duration), locations }
}

function placeOf(location: Location | null): string {
  return location === null ? '' : `${location.file}:${location.line}:${location.column}`
}
