import type { ProfileBounds } from './bounds.ts'
import type { Mask } from './mask.ts'
import type { Exception } from './profile.ts'
import { parseStack } from './stack-frames.ts'

const standard = new Set(['name', 'message', 'stack', 'cause', 'errors', 'code', 'statusCode'])

/** What a chain was cut by. */
export interface ChainLosses {
  exceptions: number
  frames: number
}

/** Everything that was thrown, with its causes and members, as a flat list in reading order. */
export function describeExceptions (thrown: readonly unknown[], mask: Mask, bounds: ProfileBounds, losses: ChainLosses): Exception[] {
  const list: Exception[] = []
  const seen = new Set<unknown>()

  function add (error: unknown, relation: Exception['relation'], parent: number | null): number | null {
    if (seen.has(error)) return null
    if (list.length >= bounds.exceptions) {
      losses.exceptions++
      return null
    }
    seen.add(error)
    const index = list.push(describe(error, relation, parent, mask, bounds, losses)) - 1
    if (error instanceof AggregateError) for (const member of error.errors) add(member, 'member', index)
    if (error instanceof Error && error.cause !== undefined && error.cause !== null) add(error.cause, 'cause', index)
    return index
  }

  for (const error of thrown) add(error, 'thrown', null)
  return list
}

function describe (
  error: unknown,
  relation: Exception['relation'],
  parent: number | null,
  mask: Mask,
  bounds: ProfileBounds,
  losses: ChainLosses
): Exception {
  if (!(error instanceof Error)) {
    return {
      class: error === null ? 'null' : typeof error,
      message: typeof error === 'string' ? mask.text(error) : JSON.stringify(mask.value(error)),
      code: null,
      statusCode: null,
      relation,
      parent,
      properties: {},
      frames: []
    }
  }
  const message = String(error.message)
  const stack = typeof error.stack === 'string' ? error.stack : ''
  const { frames, dropped } = parseStack(stack, message, bounds.frames)
  losses.frames += dropped
  const properties: Record<string, unknown> = {}
  for (const key of Object.keys(error)) {
    if (!standard.has(key)) properties[key] = Reflect.get(error, key)
  }
  const code: unknown = Reflect.get(error, 'code')
  return {
    class: className(error),
    message: mask.text(message),
    code: typeof code === 'string' || typeof code === 'number' ? mask.text(String(code)) : null,
    statusCode: statusOf(error),
    relation,
    parent,
    properties: mask.record(properties),
    frames
  }
}

/** The name a person knows it by: that of the class, unless the error was given one of its own. */
function className (error: Error): string {
  const { name } = error
  if (typeof name === 'string' && name !== '' && name !== 'Error') return name
  return error.constructor?.name || 'Error'
}

/** The status an error asks for. */
function statusOf (error: Error): number | null {
  for (const key of ['statusCode', 'status']) {
    const status: unknown = Reflect.get(error, key)
    if (typeof status === 'number' && status >= 400 && status <= 599) return status
  }
  return null
}
