import type { Location, Span } from './profile.ts'

/** The part of a span's JSON that is the same for every request. */
interface Constant {
  span: Span
  text: string
}

/** By the place in the code, of which there is one object for all spans that come from it. */
const constants = new WeakMap<Location, Constant>()

/** Spans as JSON. */
export function spansText (spans: readonly Span[]): string {
  let text = ''
  for (const span of spans) {
    const { parent, start, duration, outcome, detail } = span
    const separator = text === '' ? '' : ','
    text += `${separator}{"parent":${parent},${constantOf(span)},"start":${start},"duration":${duration},"outcome":"${outcome}","detail":${JSON.stringify(detail)}}`
  }
  return `[${text}]`
}

function constantOf (span: Span): string {
  if (span.location === null) return constantText(span)
  const known = constants.get(span.location)
  if (known !== undefined && isAlike(known.span, span)) return known.text
  const text = constantText(span)
  constants.set(span.location, { span, text })
  return text
}

/** Hooks that were added in a loop have one place, and may have several names. */
function isAlike (one: Span, other: Span): boolean {
  return one.name === other.name && one.kind === other.kind && one.hook === other.hook && one.routeLevel === other.routeLevel &&
    one.dispatchPoint === other.dispatchPoint && one.plugin === other.plugin
}

function constantText ({ kind, name, hook, routeLevel, dispatchPoint, plugin, location }: Span): string {
  return JSON.stringify({ kind, name, hook, routeLevel, dispatchPoint, plugin, location }).slice(1, -1)
}
