import { type ProfileBounds, remember } from '../../core/bounds.ts'
import { isForeign, isProfilerFile, pathOf } from '../../core/call-site.ts'
import type { CollectingRecorded } from '../../core/feature.ts'
import {
  attempt,
  isError,
  isObject,
  isRecord,
  listOf,
  nameOfError,
  propertyOf,
  read,
  textOf,
} from '../../core/foreign-value.ts'
import type { Mask } from '../../core/mask/mask.ts'
import type { DispatchPointName, Exception, Frame, Json, Profile } from '../../core/profile.ts'
import type { Failure } from '../../core/watch/failures.ts'
import { describeLifecycle, type Origins } from '../../core/dispatch-points.ts'
import { startOfFailed } from '../queries/queries.ts'

const frame =
  /^\s+at (?:(async )?(.+?) \()?((?:file:\/\/|node:|[A-Za-z]:[\\/]|\/).*?|node:[\w/]+|<anonymous>):(\d+):(\d+)\)?$/

/** Parses a line of a stack; null if it is no frame. */
function parseFrame(line: string): Frame | 'profiler' | null {
  const match = frame.exec(line)
  if (match === null) return null
  const [, , name, where = '', row = '0', column = '0'] = match
  const file = pathOf(where)
  if (isProfilerFile(file)) return 'profiler'
  return { function: name ?? null, file, line: Number(row), column: Number(column), kind: kindOf(file) }
}

/** Whose code a file is. */
export function kindOf(file: string): Frame['kind'] {
  if (file.startsWith('node:') || file === '<anonymous>') return 'node'
  return isForeign(file) ? 'module' : 'own'
}

// Remembered, because an error is described for its answer and for its profile.
/** The frame in a line of a stack; null if there is none. It is shared, so it must not be changed. */
const frameIn: (line: string) => Readonly<Frame> | 'profiler' | null = remember(parseFrame)

const longestLine = 1000

/**
 * Parses the frames of an error's stack, without those of the profiler and of Node through which it calls. The message
 * is removed first, since lines in it could look like frames and make the profiler read any file.
 */
export function parseStack(stack: string, message: string, limit: number): { frames: Frame[]; dropped: number } {
  const after = stack.indexOf(message)
  const text = after === -1 ? stack : stack.slice(after + message.length)
  const frames: Frame[] = []
  for (const candidate of text.split('\n')) {
    // Frames are shorter, and the pattern is slow on long lines.
    const frame = candidate.length > longestLine ? null : frameIn(candidate)
    if (frame === 'profiler') while (isScope(frames.at(-1))) frames.pop()
    else if (frame !== null) frames.push({ ...frame })
  }
  return { frames: frames.slice(0, limit), dropped: Math.max(0, frames.length - limit) }
}

/** Whether a frame is that of Node which enters an asynchronous scope. */
function isScope(frame: Frame | undefined): boolean {
  return frame?.kind === 'node' && frame.function === 'AsyncLocalStorage.run'
}

/** The frames without those of the error's own constructors. V8 leaves them in if a base class captures the stack. */
function belowConstructors(error: Error, frames: Frame[]): Frame[] {
  if (!frames[0]?.function?.startsWith('new ')) return frames
  const constructors = new Set<string>()
  for (let made: unknown = error; isObject(made); made = Object.getPrototypeOf(made)) {
    constructors.add(`new ${textOf(propertyOf(propertyOf(made, 'constructor'), 'name'))}`)
  }
  const first = frames.findIndex(({ function: name }) => !constructors.has(name ?? ''))
  const below = first === -1 ? [] : frames.slice(first)
  return below.some(({ kind }) => kind === 'own') ? below : frames
}

const standard = new Set(['name', 'message', 'stack', 'cause', 'errors', 'code', 'statusCode'])

/** Stops counting here, since a getter may return a new cause each time. */
const leftOutKnown = 10_000

interface ChainLosses {
  exceptions: number
  frames: number
}

/** The exceptions of a profile, and the index of each thrown one; null if it was left out. */
interface ExceptionChains {
  list: Exception[]
  thrown: Array<number | null>
}

/** Describes all thrown values with their members and causes, as a flat list, depth first; those of the log last. */
function describeExceptions(
  token: string,
  thrown: readonly unknown[],
  failures: readonly Failure[],
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
    const query = startOfFailed(error, token)
    const described = describe(error, relation, parent, mask, bounds, losses)
    const index = list.push({ ...described, ...(query !== undefined && { query }) }) - 1
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

  for (const [index, error] of thrown.entries()) if (failures[index]?.from !== 'logged') add(error, 'thrown', null)
  // Servers of GraphQL log what they made of an error.
  const isMade = (error: unknown) =>
    isError(error) && read(error, 'originalError') != null && indexes.has(read(error, 'originalError'))
  for (const error of thrown) if (!isMade(error)) add(error, 'logged', null)
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
      class: error == null ? 'thrown value' : typeof error,
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
  const described: Exception = {
    class: mask.text(nameOfError(error)),
    message: mask.text(message),
    code: typeof code === 'string' || typeof code === 'number' ? mask.text(String(code)) : null,
    statusCode: statusOf(error),
    relation,
    parent,
    properties: mask.record(properties),
    frames: attempt(() => belowConstructors(error, frames), frames),
  }
  described.message += reasonIn(described.properties.response)
  return described
}

/** What Nest's validation found first: its message is only "Bad Request Exception", and the reasons are beside it. */
function reasonIn(response: Json | undefined): string {
  const [first, ...others] = isRecord(response) ? listOf(response.message) : []
  if (typeof first !== 'string' || first === '') return ''
  return others.length === 0 ? `: ${first}` : `: ${first} (and ${others.length} more)`
}

function causesOf(error: Error): readonly unknown[] {
  const cause = read(error, 'cause')
  return cause === undefined || cause === null ? [] : [cause]
}

function membersOf(error: Error): readonly unknown[] {
  const isAggregate = nameOfError(error) === 'AggregateError' || attempt(() => error instanceof AggregateError, false)
  if (!isAggregate) return []
  const members = read(error, 'errors')
  return attempt(() => listOf(members), [])
}

function statusOf(error: Error): number | null {
  for (const key of ['statusCode', 'status']) {
    const status = read(error, key)
    if (typeof status === 'number' && status >= 400 && status <= 599) return status
  }
  return null
}

/** The exceptions of a request, and the dispatch points, which they interrupted. */
export function collectExceptions(collecting: CollectingRecorded): Pick<Profile, 'exceptions' | 'lifecycle'> {
  const { bounds, drop, exchange, mask, toError } = collecting
  const { droppedFailures, failures, marks, spans, token } = exchange.recorder
  const losses: ChainLosses = { exceptions: droppedFailures, frames: 0 }
  const thrown = failures.map(({ error }) =>
    toError !== undefined && isError(error) ? attempt(() => toError(error), error) : error,
  )
  const chains = describeExceptions(token, thrown, failures, mask, bounds, losses)
  for (const { frames } of chains.list) {
    for (const frame of frames) if (frame.function !== null) frame.function = mask.text(frame.function)
  }
  drop('exceptions', losses.exceptions, () => `A profile holds ${bounds.exceptions} exceptions.`)
  drop('frames', losses.frames, () => `An exception holds ${bounds.frames} frames.`)
  return { exceptions: chains.list, lifecycle: describeLifecycle(spans, marks, originsOf(failures, chains)) }
}

/** Maps failed spans and phases to their exceptions, and sets the spans and handlers of the exceptions. */
function originsOf(failures: readonly Failure[], { list, thrown }: ExceptionChains): Origins {
  const spans = new Map<number, number>()
  const phases = new Map<DispatchPointName, number>()
  failures.forEach((failure, position) => {
    const index = thrown[position] ?? -1
    const exception = list[index]
    if (exception === undefined) return
    exception.spans = failure.spans
    exception.handlers = failure.handlers
    if (failure.uncaught !== undefined) exception.uncaught = failure.uncaught
    for (const span of failure.spans) spans.set(span, index)
    if (failure.phase !== null) phases.set(failure.phase, index)
  })
  return { spans, phases }
}
