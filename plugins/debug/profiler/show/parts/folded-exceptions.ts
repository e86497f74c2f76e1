import type { Exception, Frame } from '../../base/profile.ts'

/** Members of one error that are shown in full: the others mostly say the same once more. */
const membersShown = 2

/** Whether each exception of a chain is folded: a member after the first few of its error, and what lies beneath one. */
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

/** What of a folded exception's stack says where it comes from: the application's own frames, or the first there is. */
export function tellingFrames({ frames }: Exception): readonly Frame[] {
  const own = frames.filter(({ kind }) => kind === 'own')
  return own.length > 0 ? own : frames.slice(0, 1)
}
