import type { Boot, BootState } from '../../base/boot.ts'
import { html, type Markup } from '../../base/html.ts'
import { sliceTime, timeByKind } from '../../collect/exclusive-time.ts'
import type { Tone, ViewContext } from '../../collect/panel.ts'
import { slowestCalls } from '../../collect/slowest-calls.ts'
import { hatchPattern } from '../parts/bar.ts'
import { bootSentence, unfinishedSteps, waitText } from '../parts/boot-sentence.ts'
import { renderEmptyState } from '../parts/empty-state.ts'
import { foldThreshold } from '../parts/fold-threshold.ts'
import { renderKeyValueTable } from '../parts/key-value-table.ts'
import { renderLocation } from '../parts/location.ts'
import { renderSection } from '../parts/section.ts'
import { renderSeverity } from '../parts/severity.ts'
import { renderSlowestFive } from '../parts/slowest-five.ts'
import { renderTimeBar } from '../parts/time-bar.ts'
import { renderTime } from '../parts/time.ts'
import type { TimedContext } from '../parts/timed-context.ts'
import { count, formatDuration } from '../parts/units.ts'
import { renderWaterfall } from '../parts/waterfall.ts'
import { renderPage } from './page.ts'

export type BootContext = Pick<ViewContext, 'base' | 'editorUrl' | 'root' | 'query'>

const tones: Record<BootState, Tone> = { ready: 'good', starting: 'neutral', stuck: 'warning', failed: 'error' }

/** How the application started: its plugins, what each of them waited for, and what hangs or failed. */
export function renderBootPage(boot: Boot, context: BootContext): string {
  const { base, editorUrl, query, root } = context
  const { duration, spans, versions } = boot
  const timed = { profile: timedBoot(boot), editorUrl, root }
  const slices = sliceTime(timed.profile)
  const threshold = foldThreshold(query, duration)
  return renderPage({
    title: `Boot · ${bootSentence(boot)}`,
    base,
    header: renderHeader(boot),
    main:
      spans.length === 0
        ? renderEmptyState('No plugin was registered after the profiler.')
        : html`${hatchPattern}${renderProblems(boot, timed)}
<section aria-labelledby="where"><div class="head"><h2 id="where">Where ${formatDuration(duration)} went <small class="only-wide">each millisecond counted once</small></h2></div>
${renderTimeBar(timeByKind(slices), duration)}</section>
${renderSlowestFive(slowestCalls(boot, slices), timed, 'the start')}
<section aria-labelledby="waterfall"><div class="head"><h2 id="waterfall">Plugins <small>in the order they ran, each with what it waited for</small></h2><form class="right"><label for="fold">Fold below</label><input id="fold" class="threshold" type="number" name="fold" value="${threshold}" min="0" step="any"> ms <button>Apply</button></form></div>
${renderWaterfall(timed, threshold)}</section>
${renderSection('Versions', renderKeyValueTable('Versions', Object.entries(versions)))}`,
    footer: html`<p>A start is kept until the next one. Unaccounted is the time between plugins, such as that of the application’s own code.</p>`,
  })
}

/** The start as something that took time, like a request. */
export function timedBoot({ duration, spans }: Boot): TimedContext['profile'] {
  return { duration, spans, lifecycle: [], database: null, request: { bodySize: null } }
}

function renderHeader(boot: Boot): Markup {
  const { before, dropped, duration, process, spans, state, time } = boot
  const facts = [
    ['Process', String(process)],
    ['Modules before', formatDuration(before)],
    ['Plugins', String(spans.filter(({ kind }) => kind === 'plugin').length)],
    ['SQL', String(spans.filter(({ kind }) => kind === 'query').length)],
    ['Together', formatDuration(before + duration)],
    ['When', renderTime(time)],
    ...(dropped > 0 ? [['Left out', count(dropped, 'call')] as const] : []),
  ] as const
  return html`<section class="request ${tones[state]}" aria-label="This start">
<div class="asked"><h1>${bootSentence(boot)}</h1></div>
<dl class="facts" tabindex="0" aria-label="Facts">${facts.map(
    ([name, value]) => html`
<div><dt>${name}</dt> <dd>${value}</dd></div>`,
  )}
</dl>
</section>`
}

/** What failed, and what has not ended, each with its line; null if all is well. */
function renderProblems(boot: Boot, context: TimedContext): Markup | null {
  const { failures, spans } = boot
  const failed = failures.flatMap(({ span: id, message }) => {
    const span = spans[id]
    return span === undefined ? [] : { span, tone: 'error' as const, claim: `"${span.name}" failed.`, text: message }
  })
  const open = unfinishedSteps(boot).map(span => ({
    span,
    tone: 'warning' as const,
    claim: `"${span.name}" has not ended after ${formatDuration(span.duration)}.`,
    text: waitText(boot, span),
  }))
  const problems = [...failed, ...open]
  if (problems.length === 0) return null
  return html`<section aria-labelledby="findings"><h2 id="findings">Findings <span class="count">${problems.length}</span></h2>
<ul class="findings">${problems.map(
    ({ span, tone, claim, text }) => html`
<li>${renderSeverity(tone)}<p><b>${claim}</b> ${text}</p>${span.location !== null && renderLocation(span.location, context)}</li>`,
  )}
</ul></section>`
}
