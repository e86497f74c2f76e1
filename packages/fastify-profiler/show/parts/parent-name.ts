import type { Profile } from '../../base/profile.ts'

/** What the parent of a profile is to it. */
export function parentName({ isReplay }: Pick<Profile, 'isReplay'>): string {
  return isReplay === true ? 'Replay of' : 'Parent request'
}
