import type { Location, Span } from '../base/profile.ts'

/** The stored form of a span, without property names. What is constant for a place in the code comes last. */
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
}

/** Keyed by the location, which is one object for all spans of a function. */
const constants = new WeakMap<Location, Constant>()

/** Serialises spans in their stored form. They are more than half of a profile, so this must be fast. */
export function spansText(spans: readonly Span[]): string {
  let text = ''
  for (const span of spans) {
    const { parent, start, duration, outcome, detail } = span
    const separator = text === '' ? '' : ','
    const said = detail === null ? 'null' : JSON.stringify(detail)
    text += `${separator}[${parent},${start},${duration},"${outcome}",${said},${constantOf(span)}]`
  }
  return `[${text}]`
}

/** Restores a span from its stored form. */
export function spanOf(stored: StoredSpan): Span {
  const [parent, start, duration, outcome, detail, kind, name, hook, routeLevel, dispatchPoint, plugin, place] = stored
  const location = place === null ? null : { file: place[0], line: place[1], column: place[2] }
  return { parent, kind, name, hook, routeLevel, dispatchPoint, plugin, location, start, duration, outcome, detail }
}

function constantOf(span: Span): string {
  if (span.location === null) return constantText(span)
  const known = constants.get(span.location)
  if (known !== undefined && isAlike(known.span, span)) return known.text
  const text = constantText(span)
  constants.set(span.location, { span, text })
  return text
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

function constantText({ kind, name, hook, routeLevel, dispatchPoint, plugin, location }: Span): string {
  const place = location === null ? null : [location.file, location.line, location.column]
  return JSON.stringify([kind, name, hook, routeLevel, dispatchPoint, plugin, place]).slice(1, -1)
}
