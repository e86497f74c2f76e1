import type { Location, Span } from '../base/profile.ts'

/**
 * The stored form of a span, without property names. Times are whole microseconds, which are quicker to write than
 * fractions. What is constant for a place in the code comes last.
 */
export type StoredSpan = [
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
export function spansText(spans: readonly Span[]): string {
  let text = ''
  for (const span of spans) {
    const { parent, outcome, detail } = span
    const start = Math.round(span.start * 1000)
    const duration = Math.round(span.duration * 1000)
    const opening = text === '' ? '[[' : ',['
    const constant = constantOf(span)
    const isUsual = outcome === 'continued' && detail === null
    const said = isUsual ? constant.usual : `"${outcome}",${JSON.stringify(detail)},${constant.text}]`
    text += `${opening}${parent},${start},${duration},${said}`
  }
  return text === '' ? '[]' : `${text}]`
}

/** Restores a span from its stored form. */
export function spanOf(stored: StoredSpan): Span {
  const [parent, began, took, outcome, detail, kind, name, hook, routeLevel, dispatchPoint, plugin, place] = stored
  const [start, duration] = [began / 1000, took / 1000]
  const location = place === null ? null : { file: place[0], line: place[1], column: place[2] }
  return { parent, kind, name, hook, routeLevel, dispatchPoint, plugin, location, start, duration, outcome, detail }
}

function constantOf(span: Span): Constant {
  // Calls of a query each have a location of their own.
  if (span.location === null || span.parent !== null) return makeConstant(span)
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
