import { AssertionError } from 'node:assert'
import type { DatabaseUse, HttpCall, Location, LogLine, Profile, Unseen } from '../../core/profile.ts'
import { isRefusal } from '../performance/failed-calls.ts'
import { levelName, levelTone, locationText, statusTone } from '../../core/view/elements.ts'
import { count, cut, formatDuration } from '../../core/view/units.ts'
import { sliceTime, slowestCalls } from '../performance/exclusive-time.ts'
import { callName } from '../performance/findings.ts'
import { groupQueries } from '../queries/database-panel.ts'

/** Lines that an error lists, and characters of each. */
const linesMost = 10
const longestText = 100

export interface ExpectationOptions {
  /** What the checks may overlook: "logs", or libraries that are not watched, such as "oracledb". Default: nothing. */
  unseen?: readonly string[]
}

/** Begins the checks of a profile. */
export function expectProfile(profile: Profile, { unseen = [] }: ExpectationOptions = {}): ProfileExpectation {
  return new ProfileExpectation(profile, unseen)
}

/**
 * Checks a profile against a budget. Each check returns the expectation, so that others can follow, or throws an
 * AssertionError that names the lines at fault and the token of the profile. A check also throws if the profiler cannot
 * see what it checks, unless that is expected.
 */
export class ProfileExpectation {
  readonly #profile: Profile
  readonly #expected: readonly string[]

  constructor(profile: Profile, expected: readonly string[]) {
    this.#profile = profile
    this.#expected = expected
  }

  /** No status from 500 on, no exception, no log line at the level error or above, no failed query or HTTP request. */
  noErrors(): this {
    const { database, exceptions, http, logs, status } = this.#profile
    const errors = [
      ...(statusTone(status) === 'error' ? [`status ${status}`] : []),
      ...exceptions.map(({ class: name, message }) => short(`${name}: ${message}`)),
      ...errorLines(logs),
      ...failuresOf(
        'query',
        'queries',
        database?.failed,
        database?.queries.map(({ sql, ...query }) => ({ ...query, name: sql })),
      ),
      ...failuresOf('HTTP request', undefined, http?.failed, http?.calls.map(namedCall)),
    ]
    if (errors.length > 0) this.#fail(this.noErrors, 'has errors', errors, errors.length, 0)
    return this.#seen(this.noErrors, ['logs', 'queries', 'calls'])
  }

  /** At most so many queries, those of caches and other databases included. */
  queries({ max }: { max: number }): this {
    const { database } = this.#profile
    if (database !== null && database.count > max) {
      const says = `sent ${count(database.count, 'query', 'queries')}, ${max} allowed`
      this.#fail(this.queries, says, queryLines(database), database.count, max)
    }
    return this.#seen(this.queries, ['queries'])
  }

  /** No line sends one statement again and again with different parameters (N+1). */
  noLoops(): this {
    const loops = (this.#profile.database?.repetitions ?? []).filter(({ kind }) => kind !== 'duplicate')
    const lines = loops.map(({ count, sql, duration, locations: [location = null] }) =>
      lineOf(`${count} × ${short(sql)}, ${formatDuration(duration)}`, location),
    )
    if (loops.length > 0) this.#fail(this.noLoops, 'sends a query for each item (N+1)', lines, loops.length, 0)
    return this.#seen(this.noLoops, ['queries'])
  }

  /** No log line at the level error or above. */
  noErrorLogs(): this {
    const errors = errorLines(this.#profile.logs)
    if (errors.length > 0) {
      this.#fail(this.noErrorLogs, `logged ${count(errors.length, 'error')}`, errors, errors.length, 0)
    }
    return this.#seen(this.noErrorLogs, ['logs'])
  }

  /** At most so many milliseconds. Times vary: prefer the other checks, or allow several times the usual. */
  under({ ms }: { ms: number }): this {
    const { duration } = this.#profile
    const says = `took ${formatDuration(duration)}, ${formatDuration(ms)} allowed`
    if (duration > ms) this.#fail(this.under, says, slowestLines(this.#profile), duration, ms)
    return this
  }

  /** Throws if something of these kinds may have happened unseen. */
  #seen(check: (...args: never[]) => unknown, kinds: ReadonlyArray<Unseen['what']>): this {
    const { dropped, unseen = [] } = this.#profile
    const gaps = [
      ...unseen
        .filter(({ name, what }) => kinds.includes(what) && !this.#expected.includes(name ?? what))
        .map(({ name = 'logs', says }) => `${says} ${remedies[name] ?? ''}If that is right here: ${allowing(name)}`),
      ...dropped
        .filter(({ what }) => what === 'logs' && kinds.includes('logs'))
        .map(({ count, why }) => `${count} log lines left out. ${why} Raise profileBounds.logs.`),
    ]
    if (gaps.length > 0) this.#fail(check, 'cannot be checked', gaps, gaps.length, 0)
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

const remedies: Record<string, string> = {
  logs: "Make it with a logger: Fastify({ logger: { level: 'silent' } }) prints nothing. ",
}

function allowing(name: string): string {
  return `expectProfile(profile, { unseen: ['${name}'] }).`
}

function errorLines(logs: readonly LogLine[]): string[] {
  return logs
    .filter(({ level }) => levelTone(level) === 'error')
    .map(({ level, message }) => `${levelName(level)}: ${short(message)}`)
}

function namedCall({ error, location, method, status, url }: HttpCall) {
  return { name: `${method} ${url}`, error: error ?? (isRefusal(status) ? `status ${status}` : null), location }
}

/** The failed ones of the queries or calls that the profile holds, and the number of the others. */
function failuresOf(
  singular: string,
  plural: string | undefined,
  failed = 0,
  calls: ReadonlyArray<{ name: string; error: string | null; location: Location | null }> = [],
): string[] {
  const held = calls.filter(({ error }) => error !== null)
  const others = failed - held.length
  return [
    ...held.map(({ error, location, name }) =>
      lineOf(`failed ${singular}: ${short(name)}: ${short(error ?? '')}`, location),
    ),
    ...(others > 0 ? [`${count(others, `other failed ${singular}`, plural && `other failed ${plural}`)}`] : []),
  ]
}

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
  return cut(text.replace(/\s+/g, ' '), longestText)
}
