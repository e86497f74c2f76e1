import type { Exception, HttpCall, Location, Profile, Query } from '../../core/profile.ts'

declare module '../../core/profile.ts' {
  interface Exception {
    /** The start of the query that failed with this very error. Missing if none is known to. */
    query?: number
  }
}

/** A query or an HTTP request that failed, and was not sent again with success, or an error that nobody caught. */
interface FailedCall {
  what: 'query' | 'call' | 'error'
  error: string
  time: number
  /** Whether it failed after the response. */
  isLate: boolean
  location: Location | null
}

/** Whether a status says that a call failed. A 404 only says that there is nothing. */
export function isRefusal(status: number | null): boolean {
  return status !== null && status >= 400 && status !== 404
}

/** The query that failed with an exception. Libraries may copy an error: then the only query that has its message. */
export function queryOf({ message, query: start }: Exception, database: Profile['database']): Query | undefined {
  const { count = 0, queries = [] } = database ?? {}
  const failed = queries.filter(({ error }) => error !== null)
  if (start !== undefined) return failed.find(query => query.start === start)
  const [first, second] = failed.filter(({ error }) => message !== '' && error?.endsWith(message))
  return second === undefined && count === queries.length ? first : undefined
}

/** An error in one line: its class, and its message if it has one. */
export function errorText({ class: name, message }: Pick<Exception, 'class' | 'message'>): string {
  return message === '' ? name : `${name}: ${message}`
}

/** What a database said of a query. Knex puts the statement before it: "error: select $1 - out of range". */
export function reasonOf(error: string, sql: string): string {
  const [name = ''] = /^\w+: /.exec(error) ?? []
  const pieces = sql.split(/\$\d+|\?/)
  if (sql === '' || !error.startsWith(pieces[0] ?? '', name.length)) return error
  const end = pieces.reduce((from, piece) => error.indexOf(piece, from) + piece.length, name.length)
  const [separator] = /^(?:\$\d+|\?)? - /.exec(error.slice(end)) ?? []
  return separator === undefined ? error : name + error.slice(end + separator.length)
}

/** A long URL without its middle, since lists cut the end of a text, by which URLs differ, and the reason after it. */
function withoutMiddle(url: string): string {
  return url.length > longestUrl ? `${url.slice(0, longestUrl / 2)}…${url.slice(1 - longestUrl / 2)}` : url
}

const longestUrl = 100

export function failedCalls({ database, exceptions, http }: Profile): FailedCall[] {
  const queries = database?.queries ?? []
  const calls = http?.calls ?? []
  const isMended = (one: HttpCall) =>
    calls.some(({ method, start, status, url }) => {
      return start > one.start && method === one.method && url === one.url && status !== null && status < 400
    })
  return [
    ...queries.flatMap(({ duration, error, isLate = false, location, parameters, sql, start }): FailedCall[] => {
      if (error === null) return []
      const values = JSON.stringify(parameters)
      const later = queries.filter(other => other.start > start && other.sql === sql && other.error === null)
      if (later.some(other => JSON.stringify(other.parameters) === values)) return []
      return [{ what: 'query', error: reasonOf(error, sql), time: duration ?? 0, isLate, location }]
    }),
    ...calls.flatMap((call): FailedCall[] => {
      const { duration, error, isLate = false, location, method, status, url } = call
      if ((error === null && !isRefusal(status)) || isMended(call)) return []
      const text = `${method} ${withoutMiddle(url)}: ${error ?? status}`
      return [{ what: 'call', error: text, time: duration ?? 0, isLate, location }]
    }),
    ...exceptions.flatMap((exception): FailedCall[] => {
      const { frames, uncaught } = exception
      if (uncaught === undefined) return []
      const isLate = uncaught === 'after the response'
      const location = frames.find(({ kind }) => kind === 'own') ?? null
      return [{ what: 'error', error: errorText(exception), time: 0, isLate, location }]
    }),
  ]
}

/** Whether the application answered with a 5xx, and nothing told of an exception. */
export function isSilentFailure({ exceptions, outcome, status }: Pick<Profile, 'exceptions' | 'outcome' | 'status'>) {
  return status !== null && status >= 500 && exceptions.length === 0 && outcome === 'completed'
}

/** What was seen to fail before a 5xx, unless an exception tells of it. Nothing says that it is the cause. */
export function failedBefore(profile: Profile): { says: string; location: Location | null } | null {
  const { database, exceptions, status } = profile
  if (Number(status) < 500 || exceptions.some(exception => queryOf(exception, database) !== undefined)) return null
  const failed = failedCalls(profile).find(({ isLate, what }) => what !== 'error' && !isLate)
  if (failed === undefined) return null
  return { says: `A ${failed.what} had failed before: ${failed.error.replace(/\.$/, '')}.`, location: failed.location }
}

/** What a 5xx without an exception says, and how the next one gets it. */
export function silentFailure(status: number | null, before: ReturnType<typeof failedBefore>) {
  const seen = before?.says ?? 'What it caught was not seen.'
  return [
    `${status} without an exception: the application’s own handler answered. ${seen}`,
    'Log what it caught with request.log.error(error). Without a logger, import { currentRecorder } from ' +
      '"fastify-profiler" and call currentRecorder()?.exception(error).',
  ] as const
}
