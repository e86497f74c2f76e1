import type { Repetition } from '../../core/profile.ts'
import { remember } from '../../core/bounds.ts'
import { formatDuration } from '../../core/view/units.ts'
import { readStatement } from './statement.ts'

/** What a repetition is, and what to do about it. */
export function repetitionTexts({ count, kind, remedy, sql }: Repetition): readonly [claim: string, remedy: string] {
  if (kind === 'duplicate') {
    return [`${count} equal queries`, 'Their parameters are the same. The first result could be reused.']
  }
  const claim =
    kind === 'loop' ? `N+1: ${count} queries of one shape` : `${count} × ${readStatement(sql).name}, one at a time`
  return [claim, remedy ?? 'One query could fetch all the rows.']
}

/** How long repetitions took of the request. */
export function repetitionTime({ duration }: Pick<Repetition, 'duration'>): string {
  return duration > 0 ? formatDuration(duration) : 'no time of the request'
}

/**
 * What a value of a statement is for. page: where a part of a list begins or ends. set: written by an UPDATE. insert:
 * written by an INSERT. equal: compared with a column. other: anything else.
 */
interface ValueRole {
  role: 'page' | 'set' | 'insert' | 'equal' | 'other'
  /** The column; null if it is not known. */
  column: string | null
}

const pages = /\b(?:limit|offset|first|next|top)\s*\(?$/i
const equal = /([\w."`[\]]+)\s*(?:=|\bin|\bis not distinct from)\s*(?:any\s*)?[([]?$/i
const range = /(?:[<>]=?|\bbetween(?: \? and)?)\s*\(?$/i
const pagesByKey = /\blimit\b|\bfetch (?:first|next)\b|\btop\b/i

/** Limits of what is read of a statement. */
const mostRoles = 21
const longestBefore = 200

/** What each question mark of a shape is for. */
export const rolesIn = remember((shape): ValueRole[] => {
  const isUpdate = /^\s*update\b/i.test(shape)
  const isPaged = pagesByKey.test(shape)
  const condition = shape.search(/\bwhere\b/i)
  return [...shape.matchAll(/\?/g)].slice(0, mostRoles).map(({ index }): ValueRole => {
    const before = shape.slice(Math.max(0, index - longestBefore), index)
    if (pages.test(before)) return { role: 'page', column: null }
    if (range.test(before)) return { role: isPaged ? 'page' : 'other', column: null }
    if (isUpdate && (condition === -1 || index < condition)) return { role: 'set', column: null }
    if (/\bvalues\s*\(?$/i.test(before)) return { role: 'insert', column: null }
    const [, column = null] = equal.exec(before) ?? []
    return { role: column === null ? 'other' : 'equal', column }
  })
})

/** What to do about a loop of Redis commands, as a sentence. @param varying which of the arguments differ */
function remedyOfCommand(command: string, varying: readonly boolean[]): string {
  if (command === 'get') return 'mget or a pipeline would get all at once.'
  // An expiry, NX and the like are arguments of their own, and mset takes none of them.
  if (command === 'set' && varying.length <= 2) return 'mset or a pipeline would set all at once.'
  // hmget reads fields of one key.
  if (command === 'hget' && varying[0] === false) return 'hmget or a pipeline would get all at once.'
  return 'A pipeline would send all at once.'
}

/** One statement instead of a loop, as a sentence. @param varying which values differ */
export function remedyOf(
  { sql, system, text }: { sql: string; system: string; text: string },
  varying: readonly boolean[],
): string {
  if (system === 'redis') return remedyOfCommand(sql, varying)
  // Of the statement without its values, since a literal may be a secret.
  const { name, isWriting } = readStatement(system === 'mongodb' ? sql : text)
  const [verb = '', table = ''] = name.split(' ')
  if (system === 'mongodb') {
    return isWriting ? 'bulkWrite or insertMany would send all at once.' : 'One find with $in could fetch all.'
  }
  const roles = rolesIn(text).filter((_, index) => varying[index])
  const columns = [...new Set(roles.flatMap(({ column, role }) => (role === 'equal' && column !== null ? column : [])))]
  const where = conditionOf(columns, system)
  if (verb === 'insert' || verb === 'replace') {
    return `One statement could insert all: ${verb} into ${table} (…) values (…), (…).`
  }
  if (where === null) return 'One statement could do all at once.'
  if (verb === 'delete') return `One statement could delete all: delete from ${table} ${where}.`
  if (verb === 'update') {
    const isSet = roles.some(({ role }) => role === 'set')
    const what = isSet && system === 'postgresql' ? 'set … from unnest($1, $2) as v …' : `set … ${where}`
    return `One statement could update all: update ${table} ${what}.`
  }
  const isTotal = /\b(?:count|sum|min|max|avg)\s*\(/i.test(text) && !/\bgroup by\b/i.test(text)
  const total = isTotal && columns.length === 1 ? ` group by ${columns[0]}` : ''
  return `One query could fetch all: select … from ${table} ${where}${total}.`
}

function conditionOf(columns: readonly string[], system: string): string | null {
  const [first, ...others] = columns
  if (first === undefined) return null
  if (others.length > 0) return `where (${columns.join(', ')}) in (…)`
  return system === 'postgresql' ? `where ${first} = any($1)` : `where ${first} in (…)`
}
