import { textOf } from '../../core/foreign-value.ts'
import type { Location, Profile } from '../../core/profile.ts'

/** Fewer misses of one request say nothing about a cache. */
export const leastReads = 3

/** Commands that read the values of keys, or the fields of one. EXISTS is left out, since "no" is an answer. */
const readers = /^(?:m?get|hm?get)$/

/** Commands that write the values of keys. */
const writers = /^(?:p?set(?:ex|nx)?|hm?set)$/

/** The patterns of the keys that a request has written in Redis. */
export function writtenPatterns({ database }: Pick<Profile, 'database'>): Set<string> {
  const writes = database?.queries.filter(({ sql, system }) => system === 'redis' && writers.test(sql)) ?? []
  return new Set(writes.map(({ parameters: [key] }) => patternOf(textOf(key))))
}

/** The patterns of keys whose reads have all missed: in Redis, and in the caches that panels record. */
export function onlyMisses({ database, spans }: Pick<Profile, 'database' | 'spans'>, least = leastReads) {
  const found = new Map<
    string,
    { of: string; pattern: string; reads: number; hits: number; location: Location | null }
  >()
  const add = (of: string, pattern: string, isHit: boolean, location: Location | null) => {
    const known = found.get(of) ?? { of, pattern, reads: 0, hits: 0, location }
    known.reads++
    if (isHit) known.hits++
    found.set(of, known)
  }
  const some = database !== null && database.count > database.queries.length ? ' in the first queries' : ''
  for (const { location, parameters, rows, sql, system } of database?.queries ?? []) {
    if (system !== 'redis' || rows === null || !readers.test(sql)) continue
    const keys = sql === 'mget' ? parameters : parameters.slice(0, 1)
    for (const pattern of keys.map(key => patternOf(textOf(key)))) {
      add(`${sql.toUpperCase()} ${pattern}${some}`, pattern, rows > 0, location)
    }
  }
  for (const { detail, kind, location, name } of spans) {
    const [, answer, what] = (kind === 'cache' ? /^(hit|miss)\b\s*(.*)/.exec(name) : null) ?? []
    if (answer === undefined) continue
    const pattern = what || patternOf(detail ?? '')
    add(pattern, pattern, answer === 'hit', location)
  }
  return [...found.values()].filter(({ hits, reads }) => hits === 0 && reads >= least)
}

/** A key without its numbers and ids, or else without its last part: "museum:*". */
function patternOf(key: string): string {
  const pattern = key.replace(/(?=[a-f-]*\d)[\da-f-]{8,}|\d+/gi, '*')
  return pattern === key ? key.replace(/:[^:]+$/, ':*') : pattern
}
