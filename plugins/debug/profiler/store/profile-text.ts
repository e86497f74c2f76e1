import { pointsOf, storedPoints, type StoredPoint } from '../collect/describe-lifecycle.ts'
import { profileVersion, type Profile, type ProfileSummary } from '../base/profile.ts'
import { spanOf, spansText, type StoredSpan } from './span-text.ts'

const bytesPerCharacter = 3

interface StoredProfile extends Omit<Profile, 'spans' | 'lifecycle'> {
  spans: StoredSpan[]
  lifecycle: StoredPoint[]
}

/** Makes the summary of a profile, for searches. */
export function summarise(profile: Profile): ProfileSummary {
  const { token, parent, time, duration, status, outcome, method, url, host, ip, routing, exceptions, logs, labels } =
    profile
  const [exception] = exceptions
  return {
    token,
    parent,
    time,
    duration,
    status,
    outcome,
    method,
    url: url.slice(0, 500),
    host,
    ip,
    route: routing.matched?.url ?? null,
    exception: exception === undefined ? null : `${exception.class}: ${exception.message}`.slice(0, 200),
    logErrors: logs.filter(({ level }) => level >= 50).length,
    labels,
  }
}

/** Serialises a profile. Shortens it until it fits into `bytes`, and adds what was left out to `dropped`. */
export function serialise(profile: Profile, bytes: number): string {
  let text = textOf(profile)
  while (isOver(text, bytes) && shorten(profile, bytes)) text = textOf(profile)
  return text
}

/** Whether a text is longer than `bytes`. Encodes it only if its number of characters does not decide. */
function isOver(text: string, bytes: number): boolean {
  return text.length * bytesPerCharacter > bytes && Buffer.byteLength(text) > bytes
}

/** Parses a serialised profile. @returns null if it is not the token's profile. Throws if it is not JSON. */
export function parseProfile(text: string, token: string): Profile | null {
  const stored: unknown = JSON.parse(text)
  if (!isStored(stored, token)) return null
  const spans = stored.spans.map(spanOf)
  return { ...stored, spans, lifecycle: pointsOf(stored.lifecycle, spans) }
}

function isStored(value: unknown, token: string): value is StoredProfile {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    value.version === profileVersion &&
    'token' in value &&
    value.token === token
  )
}

function textOf({ spans, lifecycle, ...rest }: Profile): string {
  return `${JSON.stringify(rest).slice(0, -1)},"lifecycle":${JSON.stringify(storedPoints(lifecycle))},"spans":${spansText(spans)}}`
}

/** Halves or removes the largest part of a profile. @returns false if all parts are small */
function shorten(profile: Profile, bytes: number): boolean {
  const why = `A stored profile holds ${bytes} bytes.`
  const sizes = [
    { what: 'spans', size: sizeOf(profile.spans) },
    { what: 'logs', size: sizeOf(profile.logs) },
    { what: 'exceptions', size: sizeOf(profile.exceptions) },
    { what: 'headers', size: sizeOf([profile.request.headers, profile.response.headers]) },
    { what: 'values', size: sizeOf([profile.request.body, profile.request.query, profile.request.params]) },
    ...Object.entries(profile.panels).map(([name, data]) => ({ what: `panel ${name}`, size: sizeOf(data) })),
  ].sort((one, other) => other.size - one.size)
  const [largest = { what: 'nothing', size: 0 }] = sizes
  if (largest.size < 1000) return false
  const drop = (count: number) => {
    const known = profile.dropped.find(dropped => dropped.what === largest.what && dropped.why === why)
    if (known === undefined) profile.dropped.push({ what: largest.what, count, why })
    else known.count += count
  }
  if (largest.what === 'spans') {
    drop(profile.spans.splice(Math.floor(profile.spans.length / 2)).length)
    for (const point of profile.lifecycle) point.listeners = point.listeners.filter(id => id < profile.spans.length)
  } else if (largest.what === 'logs') {
    drop(profile.logs.splice(Math.floor(profile.logs.length / 2)).length)
  } else if (largest.what === 'exceptions') {
    drop(profile.exceptions.splice(Math.floor(profile.exceptions.length / 2)).length)
  } else if (largest.what === 'headers') {
    const { request, response } = profile
    drop(request.headers.length + response.headers.length)
    request.headers = []
    response.headers = []
  } else if (largest.what === 'values') {
    drop(3)
    Object.assign(profile.request, { body: null, query: {}, params: {} })
  } else {
    drop(1)
    delete profile.panels[largest.what.slice('panel '.length)]
  }
  return true
}

/** The size of a value in bytes of JSON. */
function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
