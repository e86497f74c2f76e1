import { AssertionError } from 'node:assert'
import type { DatabaseUse, Location, Profile } from '../../core/profile.ts'
import { levelName, locationText } from '../../core/view/elements.ts'
import { count, formatDuration } from '../../core/view/units.ts'
import { sliceTime, slowestCalls } from '../performance/exclusive-time.ts'
import { callName } from '../performance/findings.ts'
import { groupQueries } from '../queries/database-panel.ts'

/** Lines that an error lists, and characters of each. */
const linesMost = 10
const longestText = 100

/**
 * Checks a profile against a budget. Each check returns the expectation, so that others can follow, or throws an
 * AssertionError that names the lines at fault and the token of the profile.
 */
export interface ProfileExpectation {
  /** At most so many queries, those of caches and other databases included. */
  queries(limit: { max: number }): this
  /** No line sends one statement again and again with different parameters (N+1). */
  noLoops(): this
  /** No log line at the level error or above. */
  noErrorLogs(): this
  /** At most so many milliseconds. Times vary: prefer the other checks, or allow several times the usual. */
  under(limit: { ms: number }): this
}

/** Begins the checks of a profile. */
export function expectProfile(profile: Profile): ProfileExpectation {
  return new Expectation(profile)
}

class Expectation implements ProfileExpectation {
  readonly #profile: Profile

  constructor(profile: Profile) {
    this.#profile = profile
  }

  queries({ max }: { max: number }): this {
    const { database } = this.#profile
    if (database === null || database.count <= max) return this
    const says = `sent ${count(database.count, 'query', 'queries')}, ${max} allowed`
    this.#fail(this.queries, says, queryLines(database), database.count, max)
  }

  noLoops(): this {
    const loops = (this.#profile.database?.repetitions ?? []).filter(({ kind }) => kind !== 'duplicate')
    const lines = loops.map(({ count, sql, duration, locations: [location = null] }) =>
      lineOf(`${count} × ${short(sql)}, ${formatDuration(duration)}`, location),
    )
    if (loops.length > 0) this.#fail(this.noLoops, 'sends a query for each item (N+1)', lines, loops.length, 0)
    return this
  }

  noErrorLogs(): this {
    const errors = this.#profile.logs.filter(({ level }) => level >= 50)
    const lines = errors.map(({ level, message }) => `${levelName(level)}: ${short(message)}`)
    if (errors.length > 0) {
      this.#fail(this.noErrorLogs, `logged ${count(errors.length, 'error')}`, lines, errors.length, 0)
    }
    return this
  }

  under({ ms }: { ms: number }): this {
    const { duration } = this.#profile
    const says = `took ${formatDuration(duration)}, ${formatDuration(ms)} allowed`
    if (duration > ms) this.#fail(this.under, says, slowestLines(this.#profile), duration, ms)
    return this
  }

  #fail(
    check: (...args: never[]) => unknown,
    says: string,
    lines: readonly string[],
    actual: number,
    expected: number,
  ): never {
    const { method, token, url } = this.#profile
    const left = lines.length - linesMost
    const listed = [...lines.slice(0, linesMost), ...(left > 0 ? [`and ${count(left, 'other')}`] : [])]
    const message = [`${method} ${short(url)} ${says}:`, ...listed.map(line => `  ${line}`), `Profile ${token}`].join(
      '\n',
    )
    throw new AssertionError({ message, actual, expected, operator: check.name, stackStartFn: check })
  }
}

/** The queries by statement and line, the most frequent first. */
function queryLines({ queries }: DatabaseUse): string[] {
  return groupQueries(queries)
    .sort((one, other) => other.queries.length - one.queries.length)
    .map(({ first, queries, duration }) =>
      lineOf(`${queries.length} × ${short(first.sql)}, ${formatDuration(duration)}`, first.location),
    )
}

function slowestLines(profile: Profile): string[] {
  return slowestCalls(profile, sliceTime(profile))
    .slice(0, 5)
    .map(call => lineOf(`${callName(call)}, ${formatDuration(call.time)}`, call.span?.location ?? null))
}

function lineOf(text: string, location: Location | null): string {
  return location === null ? text : `${text}, ${locationText(location, process.cwd())}`
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > longestText ? `${line.slice(0, longestText)}…` : line
}
