import type { Exception, Frame } from '../../base/profile.ts'

/** The index of the error at the bottom of a chain: the cause, or else the first member, of each in turn. */
export function rootCauseOf(exceptions: readonly Exception[], from = 0): number {
  // A parent comes before its causes and members; anything else would be a cycle.
  const below = [...exceptions.keys()].filter(index => index > from && exceptions[index]?.parent === from)
  const next = below.find(index => exceptions[index]?.relation === 'cause') ?? below[0]
  return next === undefined ? from : rootCauseOf(exceptions, next)
}

/** How many errors are above each one. */
export function depthsOf(exceptions: readonly Exception[]): number[] {
  const depths: number[] = []
  for (const { parent } of exceptions) depths.push(parent === null ? 0 : (depths[parent] ?? -1) + 1)
  return depths
}

/** Where an error was thrown: at the application's nearest frame, or else at its first; null without a stack. */
export function placeOf({ frames }: Exception): Frame | null {
  return frames.find(({ kind }) => kind === 'own') ?? frames[0] ?? null
}

/** The application's frame nearest to an error, which may be one of an error above it; null if there is none. */
export function nearestOwnFrame(exceptions: readonly Exception[], index: number): Frame | null {
  const exception = exceptions[index]
  if (exception === undefined) return null
  const own = exception.frames.find(({ kind }) => kind === 'own')
  const { parent } = exception
  return own ?? (parent === null || parent >= index ? null : nearestOwnFrame(exceptions, parent))
}

/** For each error the index of the one that names its place first, in the given order; null if that is itself. */
export function samePlaces(exceptions: readonly Exception[], order: readonly number[]): Array<number | null> {
  const owners = new Map<string, number>()
  const same: Array<number | null> = exceptions.map(() => null)
  for (const index of order) {
    const exception = exceptions[index]
    const place = exception && placeOf(exception)
    if (!place) continue
    const key = `${place.file}:${place.line}`
    const owner = owners.get(key)
    if (owner === undefined) owners.set(key, index)
    else if (owner !== index) same[index] = owner
  }
  return same
}
