import type { Location, Profile } from '../../core/profile.ts'
import { readStatement } from '../queries/statement.ts'
import { valuesOfCall, valuesOfQuery, valuesOfRequest } from '../request/known-values.ts'
import { isOperation } from './exclusive-time.ts'

/** Calls of one function that were awaited one after another, although none needed the result of another. */
export interface AwaitsInARow {
  count: number
  /** Milliseconds from the first to the last of them, without what ran in between. */
  time: number
  /** Milliseconds of it that could overlap: all but the longest. */
  saved: number
  /** The line of the second, which need not wait. */
  location: Location | null
}

/** A call that reads something, and that others can overlap. */
interface Call {
  start: number
  end: number
  location: Location | null
  /** The same for calls by one line that differ in their values only. */
  shape: string
  /** What it needs, as text; null if that is unknown. */
  values: readonly string[] | null
  /** Rows that it has returned; null if unknown. */
  rows: number | null
  /** Whether it fetches a part of a list by its place, which the part before tells. */
  isPage: boolean
  /** Whether it changes something, or cannot overlap with others. */
  isBarrier: boolean
}

/** Milliseconds between two calls that still follow each other; under load also this part of the shorter one. */
const longestGap = 2
const gapPart = 0.25

/** Times differ by this much between clocks. */
const tolerance = 0.05

/** A shorter saving is not worth a change. */
const leastSaved = 5
const leastShare = 0.1

/** A line that made this many calls is a loop. */
const loopFrom = 3

/** The part of a list's rows from which on a loop over them is one over the list. */
const partOfList = 0.5

const servers = new Set(['postgresql', 'mysql'])
const pageNames =
  /[?&](?:page|offset|skip|start|from|after|before|since|until|cursor|token|marker|continuation|next)\w*=/i

/**
 * Finds calls that could overlap: reads of one function, each begun when the one before had ended. What a call needs
 * is judged by its values. They must occur in the request or in earlier calls, or else come from a list: as many calls
 * of one shape by one line as a query before them has returned rows. All other calls may need the result of the one
 * before. Known are queries to PostgreSQL and MySQL outside transactions, and GET requests.
 */
export function awaitsInARow(profile: Profile): AwaitsInARow[] {
  const calls = callsOf(profile)
  // Most requests end here, since this runs for each of them.
  if (calls.reduce((sum, { start, end }) => sum + end - start, 0) < leastSaved) return []
  const known = new Set(valuesOfRequest(profile))
  const rows: Call[][] = []
  for (const [index, call] of calls.entries()) {
    const row = rows.at(-1)
    const last = row?.at(-1)
    const continues =
      last !== undefined && follows(call, last, profile) && isFree(call, calls.slice(0, index), calls, known)
    if (continues) row?.push(call)
    else rows.push([call])
    for (const value of call.values ?? []) known.add(value)
  }
  return rows
    .filter(row => row.length > 1)
    .map(describe)
    .filter(({ saved }) => saved >= leastSaved && saved >= profile.duration * leastShare)
    .sort((one, other) => other.saved - one.saved)
}

function describe(row: readonly Call[]): AwaitsInARow {
  const times = row.map(({ start, end }) => end - start)
  const time = times.reduce((sum, each) => sum + each, 0)
  return { count: row.length, time, saved: time - Math.max(...times), location: row[1]?.location ?? null }
}

/** Whether a call began when another had ended, in the same function. */
function follows(call: Call, last: Call, { spans }: Profile): boolean {
  if (call.isBarrier || last.isBarrier) return false
  const gap = call.start - last.end
  const shorter = Math.min(call.end - call.start, last.end - last.start)
  if (gap < -tolerance || gap > Math.max(longestGap, shorter * gapPart)) return false
  const boundary = (time: number) => time > last.start && time <= call.start
  return !spans.some(span => !isOperation(span) && (boundary(span.start) || boundary(span.start + span.duration)))
}

/** Whether a call needs nothing that the calls before it have returned. */
function isFree(call: Call, before: readonly Call[], all: readonly Call[], known: ReadonlySet<string>): boolean {
  const { isPage, shape, values } = call
  if (values === null) return false
  const earlier = before.filter(other => other.shape === shape)
  // A call that is made again is a poll or a retry.
  const isAgain = (other: Call) => other.shape === shape && String(other.values) === String(values)
  if (all.filter(isAgain).length > 1) return false
  if (earlier.length > 0 && isPage) return false
  if (values.every(value => known.has(value))) return true
  // The first of a loop needs the list; the others only need what the first needed.
  return (
    earlier.length > 0 &&
    isFromList(
      all.filter(other => other.shape === shape),
      before,
    )
  )
}

/** Whether calls of one shape are as many as an earlier query has returned rows. */
function isFromList(same: readonly Call[], before: readonly Call[]): boolean {
  const [first] = same
  if (first === undefined || same.length < loopFrom) return false
  return before.some(
    ({ end, rows }) =>
      rows !== null && end <= first.start + tolerance && same.length <= rows && same.length >= rows * partOfList,
  )
}

/** The queries and HTTP requests that have ended, in the order in which they began. */
function callsOf({ database, http }: Profile): Call[] {
  // The request has awaited nothing that ended after it.
  const queries = (database?.queries ?? []).filter(isAwaited).map((query): Call => {
    const { blocked, duration, error, location, rows, sql, start, system, transaction, waited } = query
    const { isAllowed, isReading } = readStatement(sql)
    const isBarrier = !isReading || isAllowed || error !== null || transaction !== null || !servers.has(system)
    const end = start + waited + blocked + (duration ?? 0)
    const isPage = /\boffset\b|[<>]=?\s*(?:\$\d|\?)[^]*\blimit\b/i.test(sql)
    const values = valuesOfQuery(query)
    return { start, end, location, shape: shapeOf(sql, location), values, rows, isPage, isBarrier }
  })
  const requests = (http?.calls ?? []).filter(isAwaited).map((call): Call => {
    const { blocked, duration, error, location, method, start, status, url } = call
    const isBarrier = method !== 'GET' || error !== null || (status ?? 0) >= 400
    const [address = ''] = url.split('?')
    return {
      start,
      end: start + blocked + (duration ?? 0),
      location,
      shape: shapeOf(`${method} ${address.replace(/\d+/g, '#')}`, location),
      values: valuesOfCall(call),
      rows: null,
      isPage: pageNames.test(url),
      isBarrier,
    }
  })
  return [...queries, ...requests].sort((one, other) => one.start - other.start)
}

function isAwaited({ isLate }: { isLate?: true }): boolean {
  return !isLate
}

function shapeOf(text: string, location: Location | null): string {
  return `${location?.file}:${location?.line}:${location?.column} ${text}`
}
