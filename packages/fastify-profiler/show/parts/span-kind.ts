import { html, type Markup } from '../../base/html.ts'
import type { TimeKind } from '../../base/summary.ts'

interface KindView {
  /** As in the legend. */
  label: string
  /** The class of its bars and squares. */
  colour: string
}

const views: Record<TimeKind, KindView> = {
  sql: { label: 'SQL', colour: 'sql' },
  http: { label: 'HTTP', colour: 'http' },
  cache: { label: 'Cache', colour: 'cache' },
  other: { label: 'Other', colour: 'io' },
  several: { label: 'Several at once', colour: 'several' },
  plugin: { label: 'Plugins', colour: 'handler' },
  hook: { label: 'Hooks', colour: 'hook' },
  handler: { label: 'Handler', colour: 'handler' },
  reading: { label: 'Reading', colour: 'io' },
  sending: { label: 'Sending', colour: 'io' },
  waiting: { label: 'Waiting', colour: 'wait' },
  unaccounted: { label: 'Unaccounted', colour: 'unknown' },
}

/** How a kind of time is shown. */
export function kindView(kind: TimeKind): KindView {
  return views[kind]
}

/** The square that stands for a kind of time. */
export function renderKind(kind: TimeKind): Markup {
  return html`<i class="kind ${views[kind].colour}"></i>`
}
