import type { FastifyInstance } from 'fastify'
import type { Profile } from '../base/profile.ts'
import { isThisProcess } from '../base/this-process.ts'

export type Application = Pick<FastifyInstance, 'inject'>

/** The applications of this process, by the key of their configuration. They may share their profiles. */
const running = new Map<string, Application>()

/** Remembers an application that is ready. @returns a function that forgets it */
export function addApplication(configuration: string, app: Application): () => void {
  running.set(configuration, app)
  return () => running.delete(configuration)
}

/** The application that answered a request; undefined if it does not run in this process, or not any more. */
export function applicationOf({ configuration }: Pick<Profile, 'configuration'>): Application | undefined {
  return running.get(configuration)
}

/** Says who replays a request that was answered by an application which does not run here; null for all others. */
export function replacementNote(profile: Profile): string | null {
  if (applicationOf(profile) !== undefined) return null
  return isThisProcess(profile.process)
    ? 'Replayed by another application than the original, which has closed.'
    : 'Replayed by another process than the original, such as the application after a restart.'
}
