import { finished } from 'node:stream/promises'
import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { PageSources, RunningFeature } from '../../core/feature.ts'
import { isThisProcess } from '../../core/package-version.ts'
import type { Profile } from '../../core/profile.ts'
import { Replay } from '../../core/watch/current-recorder.ts'
import { NotRepeatable, repeatableRequest, type RepeatableRequest } from './repeatable-request.ts'

type Application = Pick<FastifyInstance, 'inject'>

/** The applications of this process, by the key of their configuration. They may share their profiles. */
const running = new Map<string, Application>()

/** Remembers an application while it is ready. */
export function rememberApplication({ app }: Pick<PageSources, 'app'>): RunningFeature {
  let key: string | null = null
  return {
    ready(configuration) {
      key = configuration
      running.set(configuration, app)
    },
    stop() {
      if (key !== null) running.delete(key)
    },
  }
}

/** The application that answered a request; undefined if it does not run in this process, or not any more. */
function applicationOf({ configuration }: Pick<Profile, 'configuration'>): Application | undefined {
  return running.get(configuration)
}

/** Sends the request of a profile again: to the application that answered it, or else to this one. */
export function repeat(app: Application, profile: Profile): Promise<string | NotRepeatable> {
  return replay(applicationOf(profile) ?? app, profile)
}

/** Says who replays a request that was answered by an application which does not run here; null for all others. */
function replacementNote(profile: Profile): string | null {
  if (applicationOf(profile) !== undefined) return null
  return isThisProcess(profile.process)
    ? 'Replayed by another application than the original, which has closed.'
    : 'Replayed by another process than the original, such as the application after a restart.'
}

/** Milliseconds that a replay may take. */
const longest = 10_000

/** Milliseconds after which a request is given up that goes on although its client is gone. */
const grace = 100

/**
 * Sends the request of a profile to an application again. What it answers is thrown away: its profile tells.
 * @returns the token of the new profile
 */
export async function replay(app: Application, profile: Profile, most = longest): Promise<string | NotRepeatable> {
  const request = repeatableRequest(profile)
  if (request instanceof NotRepeatable) return request
  const replacement = replacementNote(profile)
  const sent = new Replay(profile.token, replacement === null ? request.notes : [replacement, ...request.notes])
  await sent.run(() =>
    sendWithin(app, request, most, () => {
      sent.recorder?.note(`The replay was stopped after ${most / 1000} s.`)
    }),
  )
  // Without `frameworkErrors`, Fastify rejects a malformed URL before any hook runs.
  return sent.recorder?.token ?? new NotRepeatable('The replay has no profile: Fastify refused it before any hook ran.')
}

/** Sends a request, and resolves at the end of the response. Like a client, it leaves when the time is over. */
async function sendWithin(app: Application, request: RepeatableRequest, most: number, isOver: () => void) {
  const leaving = AbortSignal.timeout(most)
  leaving.addEventListener('abort', isOver)
  const ended = new AbortController()
  const over = setTimeout(most + grace, undefined, { signal: ended.signal }).catch(() => {})
  await Promise.race([send(app, request, leaving), over])
  ended.abort()
  leaving.removeEventListener('abort', isOver)
}

async function send(app: Application, { headers, ip, method, url }: RepeatableRequest, signal: AbortSignal) {
  try {
    const response = await app.inject({
      method,
      url,
      headers,
      signal,
      payloadAsStream: true,
      ...(ip !== null && { remoteAddress: ip }),
    })
    await finished(response.stream().resume())
  } catch {
    // The server or this client has ended the response early. The profile says which.
  }
}
