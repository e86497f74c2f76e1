import { pointsOf, type StoredPoint, storedPoints } from '../dispatch-points.ts'
import { type Location, type Profile, profileVersion, type Span } from '../profile.ts'
import type { ProfileSummary } from '../summary.ts'

/**
 * The stored form of a span, without property names. Times are whole microseconds, which are quicker to write than
 * fractions. What is constant for a place in the code comes last.
 */
type StoredSpan = [
  parent: Span['parent'],
  start: number,
  duration: number,
  outcome: Span['outcome'],
  detail: Span['detail'],
  kind: Span['kind'],
  name: string,
  hook: Span['hook'],
  routeLevel: boolean,
  dispatchPoint: Span['dispatchPoint'],
  plugin: Span['plugin'],
  location: [file: string, line: number, column: number] | null,
  /** What few spans have. */
  rare?: Pick<Span, 'shared' | 'wait'>,
]

/** The part of a span's text that is the same for every request. */
interface Constant {
  span: Span
  text: string
  /** With what follows the times of most spans before it. */
  usual: string
}

/** Keyed by the location, which is one object for all spans of a function. */
const constants = new WeakMap<Location, Constant>()

/** Serialises spans in their stored form. They are more than half of a profile, so this must be fast. */
function spansText(spans: readonly Span[]): string {
  let text = ''
  for (const span of spans) {
    const { parent, outcome, detail, shared, wait } = span
    const start = Math.round(span.start * 1000)
    const duration = Math.round(span.duration * 1000)
    const opening = text === '' ? '[[' : ',['
    const constant = constantOf(span)
    const isUsual = outcome === 'continued' && detail === null
    const rare = wait === undefined && shared === undefined ? '' : `,${JSON.stringify({ shared, wait })}`
    const said =
      isUsual && rare === '' ? constant.usual : `"${outcome}",${JSON.stringify(detail)},${constant.text}${rare}]`
    text += `${opening}${parent},${start},${duration},${said}`
  }
  return text === '' ? '[]' : `${text}]`
}

/** Restores a span from its stored form. */
function spanOf(stored: StoredSpan): Span {
  const [parent, began, took, outcome, detail, kind, name, hook, routeLevel, dispatchPoint, plugin, place, rare] =
    stored
  const [start, duration] = [began / 1000, took / 1000]
  const location = place === null ? null : { file: place[0], line: place[1], column: place[2] }
  const span = {
    parent,
    kind,
    name,
    hook,
    routeLevel,
    dispatchPoint,
    plugin,
    location,
    start,
    duration,
    outcome,
    detail,
  }
  return rare === undefined ? span : { ...span, ...rare }
}

function constantOf(span: Span): Constant {
  if (span.location === null) return makeConstant(span)
  const known = constants.get(span.location)
  if (known !== undefined && isAlike(known.span, span)) return known
  const constant = makeConstant(span)
  constants.set(span.location, constant)
  return constant
}

/** Whether spans of one location share their text. Hooks that were added in a loop may differ in name. */
function isAlike(one: Span, other: Span): boolean {
  return (
    one.name === other.name &&
    one.kind === other.kind &&
    one.hook === other.hook &&
    one.routeLevel === other.routeLevel &&
    one.dispatchPoint === other.dispatchPoint &&
    one.plugin === other.plugin
  )
}

function makeConstant(span: Span): Constant {
  const { kind, name, hook, routeLevel, dispatchPoint, plugin, location } = span
  const place = location === null ? null : [location.file, location.line, location.column]
  const text = JSON.stringify([kind, name, hook, routeLevel, dispatchPoint, plugin, place]).slice(1, -1)
  return { span, text, usual: `"continued",null,${text}]` }
}

/** The most bytes of a character of a JavaScript string in UTF-8. */
export const bytesPerCharacter = 3

interface StoredProfile extends Omit<Profile, 'spans' | 'lifecycle'> {
  lifecycle: StoredPoint[]
}

/**
 * A serialised profile: its spans, everything else, and its samples if there are some. None has a raw tab or newline,
 * since all are JSON.
 */
export type ProfileText = readonly [rest: string, spans: string, samples?: string]

/** Separates the texts of a stored profile. */
export const separator = '\t'

/** Serialises a profile. Shortens it until it fits into `bytes`, and adds what was left out to `dropped`. */
export function serialise(profile: Profile, bytes: number, samples: string | null = null): ProfileText {
  let text = textOf(profile)
  while (isOver(text, bytes) && shorten(profile, bytes)) text = textOf(profile)
  return samples === null ? text : [text[0], text[1], samples]
}

/** Whether a text is longer than `bytes`. Encodes it only if its number of characters does not decide. */
function isOver([rest, spans]: ProfileText, bytes: number): boolean {
  if ((rest.length + spans.length + 1) * bytesPerCharacter <= bytes) return false
  return Buffer.byteLength(rest) + Buffer.byteLength(spans) + 1 > bytes
}

/** Parses a stored profile. @returns null if it is not the token's profile. Throws if it is not JSON. */
export function parseProfile(text: string, token: string): Profile | null {
  const [rest = '', list = ''] = text.split(separator)
  const stored: unknown = JSON.parse(rest)
  const listed: unknown = JSON.parse(list)
  if (!isStored(stored, token) || !isSpans(listed)) return null
  const spans = listed.map(spanOf)
  return { ...stored, spans, lifecycle: pointsOf(stored.lifecycle, spans) }
}

/** The samples of a stored profile, as the text of a `.cpuprofile` or `.heapprofile`; null if it has none. */
export function samplesIn(text: string): string | null {
  return text.split(separator)[2] ?? null
}

function isSpans(value: unknown): value is StoredSpan[] {
  return Array.isArray(value)
}

function isStored(value: unknown, token: string): value is StoredProfile {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    value.version === profileVersion &&
    'token' in value &&
    value.token === token &&
    'status' in value &&
    (value.status === null || Number.isInteger(value.status))
  )
}

function textOf(profile: Profile): ProfileText {
  const { spans, lifecycle } = profile
  // JSON.stringify leaves out what is undefined.
  return [JSON.stringify({ ...profile, lifecycle: storedPoints(lifecycle), spans: undefined }), spansText(spans)]
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
    { what: 'queries', size: sizeOf(profile.database) },
    { what: 'HTTP requests', size: sizeOf(profile.http) },
    ...Object.entries(profile.panels).map(([name, data]) => ({ what: `panel ${name}`, size: sizeOf(data) })),
  ].sort((one, other) => other.size - one.size)
  const [largest] = sizes
  if (largest === undefined || largest.size < 1000) return false
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
  } else if (largest.what === 'queries' && profile.database !== null) {
    const { queries, repetitions } = profile.database
    drop(queries.splice(Math.floor(queries.length / 2)).length)
    if (queries.length === 0) repetitions.length = 0
  } else if (largest.what === 'HTTP requests' && profile.http !== null) {
    const { calls } = profile.http
    drop(calls.splice(Math.floor(calls.length / 2)).length)
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

const parse: (text: string) => ProfileSummary = JSON.parse

/**
 * The summary of a stored profile, kept as text until it is searched for. Ten thousand are kept, and the garbage
 * collector would copy each of their objects twice.
 */
export class StoredSummary {
  readonly token: string
  readonly time: number
  #stored: string | ProfileSummary

  /** @param stored the summary, or its text as JSON */
  constructor({ token, time }: Pick<ProfileSummary, 'token' | 'time'>, stored: string | ProfileSummary) {
    this.token = token
    this.time = time
    this.#stored = stored
  }

  read(): ProfileSummary {
    if (typeof this.#stored === 'string') this.#stored = parse(this.#stored)
    return this.#stored
  }
}
