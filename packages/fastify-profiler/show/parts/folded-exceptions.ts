import type { Exception, Frame } from '../../base/profile.ts'

/** Members of one error shown in full; the others mostly repeat them. */
const membersShown = 2

/** Whether each exception of a chain is folded: members after the first few, and everything below them. */
export function foldedExceptions(exceptions: readonly Exception[]): boolean[] {
  const members = new Map<number, number>()
  const folded: boolean[] = []
  for (const { relation, parent } of exceptions) {
    const place = relation === 'member' && parent !== null ? (members.get(parent) ?? 0) + 1 : 0
    if (parent !== null) members.set(parent, Math.max(place, members.get(parent) ?? 0))
    folded.push(place > membersShown || (parent !== null && folded[parent] === true))
  }
  return folded
}

/** The frames shown for a folded exception: the application's, or else the first. */
export function tellingFrames({ frames }: Exception): readonly Frame[] {
  const own = frames.filter(({ kind }) => kind === 'own')
  return own.length > 0 ? own : frames.slice(0, 1)
}
