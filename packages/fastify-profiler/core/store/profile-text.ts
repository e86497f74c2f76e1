import { pointsOf, type StoredPoint, storedPoints } from '../dispatch-points.ts'
import { attempt, isRecord } from '../foreign-value.ts'
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
  rare?: Pick<Span, 'charged' | 'shared' | 'wait'>,
]

/** The part of a span's text that is the same for every request. */
interface Constant {
  span: Span
  text: string
  /** With what follows the times of most spans before it. */
  usual: string
}

/** Keyed by the location, which is one object for all spans of a function, and by the hook. */
const constants = new WeakMap<Location, Map<Span['hook'], Constant>>()

/** Serialises spans in their stored form. They are more than half of a profile, so this must be fast. */
function spansText(spans: readonly Span[]): string {
  let text = ''
  for (const span of spans) {
    const { parent, outcome, charged, detail, shared, wait } = span
    const start = Math.round(span.start * 1000)
    const duration = Math.round(span.duration * 1000)
    const opening = text === '' ? '[[' : ',['
    const constant = constantOf(span)
    const isUsual = outcome === 'continued' && detail === null
    const isRare = charged !== undefined || shared !== undefined || wait !== undefined
    const rare = isRare ? `,${JSON.stringify({ charged, shared, wait })}` : ''
    const said =
      isUsual && rare === '' ? constant.usual : `"${outcome}",${JSON.stringify(detail)},${constant.text}${rare}]`
    text += `${opening}${parent},${start},${duration},${said}`
  }
  return text === '' ? '[]' : `${text}]`
}

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
  const byHook = constants.get(span.location) ?? new Map<Span['hook'], Constant>()
  const known = byHook.get(span.hook)
  if (known !== undefined && isAlike(known.span, span)) return known
  const constant = makeConstant(span)
  constants.set(span.location, byHook.set(span.hook, constant))
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
  if (!isRecord(value) || value.version !== profileVersion || value.token !== token) return false
  return value.status === null || Number.isInteger(value.status)
}

function textOf(profile: Profile): ProfileText {
  const { spans, lifecycle } = profile
  // JSON.stringify leaves out what is undefined.
  return [JSON.stringify({ ...profile, lifecycle: storedPoints(lifecycle), spans: undefined }), spansText(spans)]
}

/** Halves or removes the largest part of a profile. @returns false if all parts are small */
function shorten(profile: Profile, bytes: number): boolean {
  const why = `A stored profile holds ${bytes} bytes.`
  const { database, exceptions, http, lifecycle, logs, panels, request, response, spans } = profile
  const half = (list: unknown[] = []) => list.splice(Math.floor(list.length / 2)).length
  const all = (list: unknown[]) => list.splice(0).length
  const parts: Array<[what: string, content: unknown, drop: () => number]> = [
    ['spans', spans, () => half(spans)],
    ['logs', logs, () => half(logs)],
    ['exceptions', exceptions, () => half(exceptions)],
    ['headers', [request.headers, response.headers], () => all(request.headers) + all(response.headers)],
    [
      'values',
      [request.body, request.query, request.params],
      () => {
        Object.assign(request, { body: null, query: {}, params: {} })
        return 3
      },
    ],
    ['queries', database, () => half(database?.queries)],
    ['HTTP requests', http, () => half(http?.calls)],
    ...Object.keys(panels).map((name): (typeof parts)[number] => [
      `panel ${name}`,
      panels[name],
      () => Number(delete panels[name]),
    ]),
  ]
  const sized = parts.map(([what, content, drop]) => ({ what, drop, size: Buffer.byteLength(JSON.stringify(content)) }))
  const [largest] = sized.sort((one, other) => other.size - one.size)
  if (largest === undefined || largest.size < 1000) return false
  const count = largest.drop()
  const known = profile.dropped.find(dropped => dropped.what === largest.what && dropped.why === why)
  if (known === undefined) profile.dropped.push({ what: largest.what, count, why })
  else known.count += count
  for (const point of lifecycle) point.listeners = point.listeners.filter(id => id < spans.length)
  if (database?.queries.length === 0) database.repetitions.length = 0
  return true
}

/** Reads the token and the time of a summary, which come first. Its text must end with a brace. */
const beginning =
  /^\{"token":"([^"\\]+)","parent":(?:null|"[^"\\]*")(?:,"isReplay":true)?,"time":(-?\d+(?:\.\d+)?),.*\}$/s

/**
 * The summary of a stored profile, kept as text until it is searched for. Ten thousand are kept: an application would
 * parse them at each start, and the garbage collector would copy each of their objects twice.
 */
export class StoredSummary {
  readonly token: string
  readonly time: number
  /** Null if its text cannot be read. */
  #stored: string | ProfileSummary | null

  /** @param text the summary as JSON */
  constructor({ token, time }: Pick<ProfileSummary, 'token' | 'time'>, text: string) {
    this.token = token
    this.time = time
    this.#stored = text
  }

  /** @returns null if a text does not begin and end like a summary; `read` looks at the rest */
  static of(text: string): StoredSummary | null {
    const [, token, time] = beginning.exec(text) ?? []
    return token === undefined ? null : new StoredSummary({ token, time: Number(time) }, text)
  }

  /** @returns null if it cannot be read */
  read(): ProfileSummary | null {
    if (typeof this.#stored === 'string') this.#stored = parseSummary(this.#stored)
    return this.#stored?.token === this.token ? this.#stored : null
  }
}

function parseSummary(text: string): ProfileSummary | null {
  const summary = attempt((): unknown => JSON.parse(text), null)
  return isSummary(summary) ? summary : null
}

function isSummary(value: unknown): value is ProfileSummary {
  if (!isRecord(value)) return false
  const { duration, labels, method, status, time, token, url } = value
  const areTexts = [method, token, url].every(text => typeof text === 'string')
  const areNumbers = [duration, status ?? 0, time].every(number => typeof number === 'number')
  return areTexts && areNumbers && isRecord(labels)
}
