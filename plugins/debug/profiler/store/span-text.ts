import type { Location, Span } from '../base/profile.ts'

/** A span as it is stored: without the names of its properties, and what its place in the code decides last. */
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

/** By the place in the code, of which there is one object for all spans that come from it. */
const constants = new WeakMap<Location, Constant>()

/** Spans as the JSON of their stored form: more than half of a profile, and so what writing one costs. */
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

/** The span that was stored so. */
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

/** Hooks that were added in a loop have one place, and may have several names. */
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
