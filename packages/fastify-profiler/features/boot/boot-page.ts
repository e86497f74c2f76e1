import type { FastifyInstance } from 'fastify'
import type { Tone, ViewContext } from '../../core/panel.ts'
import type { Span } from '../../core/profile.ts'
import {
  locationText,
  renderEmptyState,
  renderKeyValueTable,
  renderLocation,
  renderSection,
  renderSeverity,
} from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { blocks, code, plain, table } from '../../core/view/markdown.ts'
import { queryOf } from '../../core/view/page-guard.ts'
import type { PageSources } from '../../core/feature.ts'
import { renderPage } from '../../core/view/page.ts'
import { sendFormats } from '../../core/view/send-formats.ts'
import { count, formatDuration, formatTime, renderTime } from '../../core/view/units.ts'
import { sendUnknown } from '../home/not-found-page.ts'
import { sliceTime, slowestCalls, timeByKind, type TimedContext } from '../performance/exclusive-time.ts'
import { renderSlowestFive } from '../performance/findings.ts'
import { renderTimeBar } from '../performance/performance-panel.ts'
import { foldThreshold, hatchPattern, renderWaterfall } from '../performance/waterfall.ts'
import type { Boot, BootState } from './boot-file.ts'
import { bootSentence, newestBoot, unfinishedSteps, waitText } from './boot-log.ts'

type BootContext = Pick<ViewContext, 'base' | 'editorUrl' | 'root' | 'query'>

const tones: Record<BootState, Tone> = { ready: 'good', starting: 'neutral', stuck: 'warning', failed: 'error' }

/** How the application started: its plugins, what each of them waited for, and what hangs or failed. */
function renderBootPage(boot: Boot, context: BootContext): string {
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
function timedBoot({ duration, spans }: Boot): TimedContext['profile'] {
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

/** How the application started, as Markdown. */
function renderBootMarkdown(boot: Boot, root: string): string {
  const { before, dropped, failures, process, spans, time, versions } = boot
  const depths = depthsOf(spans)
  return `${blocks(
    `# ${plain(bootSentence(boot))}`,
    [
      `- Process: ${process}, started ${formatDuration(before)} before the application was made`,
      `- Time: ${formatTime(time)}`,
      ...Object.entries(versions).map(([name, version]) => `- ${plain(name)}: ${plain(version)}`),
      ...failures.map(({ span, message }) => `- ${plain(spans[span]?.name ?? '')} failed: ${plain(message)}`),
      ...unfinishedSteps(boot).map(step => `- ${plain(step.name)} has not ended. ${plain(waitText(boot, step))}`),
      ...(dropped > 0 ? [`- Left out: ${dropped}`] : []),
    ].join('\n'),
    table(
      ['What ran', 'Start', 'Duration', 'Place'],
      spans.map((span, id) => [
        `${'· '.repeat(depths[id] ?? 0)}${plain(nameOf(span))}`,
        formatDuration(span.start),
        formatDuration(span.duration),
        span.location === null ? '' : code(locationText(span.location, root)),
      ]),
    ),
  )}\n`
}

function nameOf({ hook, name, outcome }: Span): string {
  return [name, hook, outcome === 'continued' ? null : outcome].filter(part => part !== null).join(', ')
}

/** How deep each span is. A parent is recorded before its children. */
function depthsOf(spans: readonly Span[]): number[] {
  const depths: number[] = []
  for (const { parent } of spans) depths.push(parent === null ? 0 : (depths[parent] ?? 0) + 1)
  return depths
}

/** The newest start of the application, under the token "boot". */
export function bootRoutes(app: FastifyInstance, sources: PageSources): void {
  const { base, editorUrl, root } = sources

  app.get(`${base}/boot`, async function showBoot(request, reply) {
    const boot = newestBoot(sources.app)
    if (boot === null) return sendUnknown(request, reply, 'boot', sources)
    return sendFormats(request, reply, {
      html: () => renderBootPage(boot, { base, editorUrl, root, query: queryOf(request) }),
      json: () => boot,
      markdown: () => renderBootMarkdown(boot, root),
    })
  })
}
