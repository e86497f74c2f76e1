import type { ProfileBounds } from '../base/bounds.ts'
import { attempt, isError, listOf, nameOfError, read, textOf } from '../base/foreign-value.ts'
import type { Mask } from '../mask/mask.ts'
import type { Exception } from '../base/profile.ts'
import { parseStack } from './stack-frames.ts'

const standard = new Set(['name', 'message', 'stack', 'cause', 'errors', 'code', 'statusCode'])

/** Stops counting here, since a getter may return a new cause each time. */
const leftOutKnown = 10_000

/** The numbers of exceptions and frames that were left out. */
export interface ChainLosses {
  exceptions: number
  frames: number
}

/** The exceptions of a profile, and the index of each thrown one; null if it was left out. */
export interface ExceptionChains {
  list: Exception[]
  thrown: Array<number | null>
}

/** Describes all thrown values with their members and causes, as a flat list, depth first. */
export function describeExceptions(
  thrown: readonly unknown[],
  mask: Mask,
  bounds: ProfileBounds,
  losses: ChainLosses,
): ExceptionChains {
  const list: Exception[] = []
  const indexes = new Map<unknown, number>()
  const leftOut = new Set<unknown>()

  function add(error: unknown, relation: Exception['relation'], parent: number | null): void {
    if (indexes.has(error)) return
    if (list.length >= bounds.exceptions) return leaveOut(error)
    const index = list.push(describe(error, relation, parent, mask, bounds, losses)) - 1
    indexes.set(error, index)
    if (!isError(error)) return
    for (const member of membersOf(error)) add(member, 'member', index)
    for (const cause of causesOf(error)) add(cause, 'cause', index)
  }

  /** Counts an error that is left out, with all its members and causes. */
  function leaveOut(error: unknown): void {
    const waiting = [error]
    while (waiting.length > 0 && leftOut.size < leftOutKnown) {
      const next = waiting.pop()
      if (leftOut.has(next) || indexes.has(next)) continue
      leftOut.add(next)
      if (!isError(next)) continue
      const room = Math.max(0, leftOutKnown - waiting.length)
      waiting.push(...causesOf(next), ...attempt(() => membersOf(next).slice(0, room), []))
    }
  }

  for (const error of thrown) add(error, 'thrown', null)
  losses.exceptions += leftOut.size
  return { list, thrown: thrown.map(error => indexes.get(error) ?? null) }
}

function describe(
  error: unknown,
  relation: Exception['relation'],
  parent: number | null,
  mask: Mask,
  bounds: ProfileBounds,
  losses: ChainLosses,
): Exception {
  if (!isError(error)) {
    return {
      class: error === null ? 'null' : typeof error,
      message: typeof error === 'string' ? mask.text(error) : JSON.stringify(mask.value(error)),
      code: null,
      statusCode: null,
      relation,
      parent,
      properties: {},
      frames: [],
    }
  }
  const message = textOf(read(error, 'message'))
  const stack = read(error, 'stack')
  const { frames, dropped } = parseStack(typeof stack === 'string' ? stack : '', message, bounds.frames)
  losses.frames += dropped
  const properties: Record<string, unknown> = {}
  for (const key of attempt(() => Object.keys(error), [])) {
    if (!standard.has(key)) properties[key] = read(error, key)
  }
  const code = read(error, 'code')
  return {
    class: mask.text(nameOfError(error)),
    message: mask.text(message),
    code: typeof code === 'string' || typeof code === 'number' ? mask.text(String(code)) : null,
    statusCode: statusOf(error),
    relation,
    parent,
    properties: mask.record(properties),
    frames,
  }
}

function causesOf(error: Error): readonly unknown[] {
  const cause = read(error, 'cause')
  return cause === undefined || cause === null ? [] : [cause]
}

/** The errors in an AggregateError. */
function membersOf(error: Error): readonly unknown[] {
  if (!(error instanceof AggregateError)) return []
  const members = read(error, 'errors')
  return attempt(() => listOf(members), [])
}

/** The HTTP status that an error sets; null if it sets none from 400 to 599. */
function statusOf(error: Error): number | null {
  for (const key of ['statusCode', 'status']) {
    const status = read(error, key)
    if (typeof status === 'number' && status >= 400 && status <= 599) return status
  }
  return null
}
