import type { Boot } from '../../base/boot.ts'
import type { Span } from '../../base/profile.ts'
import { spansAt } from '../../collect/own-time.ts'
import { isOperation } from '../../collect/repeated-calls.ts'
import { locationText } from './location.ts'
import { formatDuration } from './units.ts'

/** The part of a start from which on a plugin is worth naming. */
const telling = 0.2

/** Ready after 512 ms: "database" took 252 ms; Did not start: "database" failed. */
export function bootSentence(boot: Boot): string {
  const { duration, failures, spans, state } = boot
  if (state === 'ready') return `Ready after ${formatDuration(duration)}${longestText(boot)}`
  const failed = spansAt(
    spans,
    failures.map(({ span }) => span),
  ).map(({ name }) => `"${name}" failed`)
  const unfinished = unfinishedSteps(boot).map(({ name }) => `"${name}" has not ended`)
  const why = [...failed, ...unfinished].slice(0, 3).join(', ') || 'no plugin runs'
  return state === 'failed' ? `Did not start: ${why}` : `Not ready after ${formatDuration(duration)}: ${why}`
}

/** The plugin or hook that took most, if that is much. */
function longestText({ duration, spans }: Boot): string {
  const [longest] = spans.filter(({ parent }) => parent === null).sort((one, other) => other.duration - one.duration)
  if (longest === undefined || longest.duration < duration * telling) return ''
  return `: "${longest.name}" took ${formatDuration(longest.duration)}`
}

/** The innermost plugins and hooks that have not ended. */
export function unfinishedSteps({ spans }: Boot): Span[] {
  const isOpen = (span: Span) => span.outcome === 'unfinished' && !isOperation(span)
  return spans.filter((span, id) => isOpen(span) && !spans.some(child => child.parent === id && isOpen(child)))
}

/** What a plugin that has not ended waits for. */
export function waitText({ spans }: Boot, step: Span): string {
  const id = spans.indexOf(step)
  const open = spans.filter(span => span.parent === id && isOperation(span) && span.outcome === 'unfinished')
  if (open.length > 0) {
    return `It waits for ${open
      .slice(0, 3)
      .map(({ name, duration }) => `${name} (${formatDuration(duration)} so far)`)
      .join(', ')}.`
  }
  return 'No query or request of it is open. It may still be loading: what else it waits for is not recorded.'
}

/** One line for each plugin that hangs. */
export function stuckSentence(boot: Boot, root: string): string {
  return unfinishedSteps(boot)
    .map(step => {
      const { duration, kind, location, name } = step
      const what = kind === 'hook' ? 'onReady hook' : 'plugin'
      const place = location === null ? '' : ` (${locationText(location, root)})`
      return `The ${what} "${name}"${place} has not ended after ${formatDuration(duration)}. ${waitText(boot, step)}`
    })
    .join(' ')
}
