import { packageVersion } from '../../base/package-version.ts'
import { toMicroseconds } from '../../base/microseconds.ts'
import type { Profile } from '../../base/profile.ts'
import { sliceTime, timeByKind } from '../../collect/exclusive-time.ts'
import { outcomeText } from '../parts/tone.ts'
import { harRequest } from './har-request.ts'
import { harResponse } from './har-response.ts'

/**
 * A profile as an HTTP Archive 1.2 (http://www.softwareishard.com/blog/har-12-spec/) with one entry. Times are
 * milliseconds, sizes bytes; -1 stands for what the server cannot know.
 */
export function harOf(profile: Profile) {
  return {
    log: {
      version: '1.2',
      creator: { name: 'fastify-profiler', version: packageVersion },
      entries: [
        {
          startedDateTime: new Date(profile.time).toISOString(),
          time: profile.duration,
          request: harRequest(profile),
          response: harResponse(profile),
          cache: {},
          timings: timingsOf(profile),
          comment: [`Profile ${profile.token}`, outcomeText(profile.outcome)].filter(part => part !== null).join('. '),
        },
      ],
      comment: 'Recorded by the server. Secrets are masked, and bodies of responses are not recorded.',
    },
  }
}

/** What the client waited for: sending its body, the server, and receiving the response. They add up to `time`. */
function timingsOf(profile: Profile) {
  const times = new Map(timeByKind(sliceTime(profile)))
  const send = toMicroseconds(times.get('reading') ?? 0)
  const receive = toMicroseconds(times.get('sending') ?? 0)
  const wait = toMicroseconds(profile.duration - send - receive)
  return { blocked: -1, dns: -1, connect: -1, ssl: -1, send, wait, receive }
}
