import type { FastifyInstance } from 'fastify'
import type { Tone, ViewContext } from '../../core/panel.ts'
import type { Span } from '../../core/profile.ts'
import {
  type Blocks,
  blocksHtml,
  blocksMarkdown,
  emptyBlocks,
  type Fact,
  type Finding,
  type Inline,
  renderFacts,
} from '../../core/view/block.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { queryOf } from '../../core/view/page-guard.ts'
import type { AskedSources, PageSources, Question } from '../../core/feature.ts'
import { renderPage, sendFormats } from '../../core/view/page.ts'
import { count, formatDuration, formatTime, renderTime } from '../../core/view/units.ts'
import { sendUnknown } from '../home/not-found-page.ts'
import { answerText, refusal, sectionFrom } from '../home/question.ts'
import { depthsOf } from '../exceptions/exceptions.ts'
import { sliceTime, slowestCalls, timeByKind, type TimedContext } from '../performance/exclusive-time.ts'
import { renderSlowestFive } from '../performance/findings.ts'
import { renderTimeBar, timesText } from '../performance/performance-panel.ts'
import { foldThreshold, hatchPattern, renderWaterfall } from '../performance/waterfall.ts'
import { type Boot, bootSentence, type BootState, newestBoot, readBoot, unfinishedSteps, waitText } from './boot-log.ts'

type BootContext = Pick<ViewContext, 'base' | 'editorUrl' | 'root' | 'query'>

const tones: Record<BootState, Tone> = { ready: 'good', starting: 'neutral', stuck: 'warning', failed: 'error' }

/** How the application started: its plugins, what each of them waited for, and what hangs or failed. */
function bootBlocks(boot: Boot, context: BootContext): Blocks {
  const { before, duration, spans, versions } = boot
  if (spans.length === 0) return emptyBlocks('No plugin was registered after the profiler.')
  const problems = problemsOf(boot)
  const timed = { profile: timedBoot(boot), editorUrl: context.editorUrl, root: context.root }
  const slices = sliceTime(timed.profile)
  const whole = before + duration
  const times = [['before', before] as const, ...timeByKind(slices)]
  const threshold = foldThreshold(context.query, duration)
  return [
    problems.length > 0 && { section: 'Findings', count: problems.length, blocks: [{ findings: problems }] },
    {
      section: `Where ${formatDuration(whole)} went`,
      note: 'since the process began, each millisecond counted once',
      blocks: [{ html: renderTimeBar(times, whole), markdown: timesText(times) }],
    },
    {
      html: renderSlowestFive(
        slowestCalls(timed.profile, slices),
        timed,
        `the ${formatDuration(duration)} since Fastify`,
      ),
      markdown: '',
    },
    {
      section: 'Plugins',
      note: 'in the order they ran, each with what it waited for',
      actions: html`<form class="right chips"><label for="fold">Fold below</label><input id="fold" class="threshold" type="number" name="fold" value="${threshold}" min="0" step="any"> ms <button>Apply</button></form>`,
      blocks: [{ html: renderWaterfall(timed, threshold), markdown: stepsMarkdown(spans, context.root) }],
    },
    {
      section: 'Versions',
      blocks: [{ title: 'Versions', pairs: Object.entries(versions).map(([name, value]) => [name, { value }]) }],
    },
  ]
}

function renderBootPage(boot: Boot, context: BootContext): string {
  return renderPage({
    title: `Boot · ${bootSentence(boot)}`,
    base: context.base,
    root: context.root,
    header: renderHeader(boot, context),
    main: html`${hatchPattern}${blocksHtml(bootBlocks(boot, context), context, 2)}`,
    footer: html`<p>A start is kept until the next one. Before Fastify, a process loads modules and runs the application’s own code. Unaccounted is what ran between plugins: such code, and the profiler’s own time.</p>`,
  })
}

function renderBootMarkdown(boot: Boot, context: BootContext): string {
  const page = { section: bootSentence(boot), blocks: [{ metrics: factsOf(boot) }, ...bootBlocks(boot, context)] }
  return `${blocksMarkdown([page], context.root, 1)}\n`
}

/** The start as something that took time, like a request. */
function timedBoot({ duration, spans }: Boot): TimedContext['profile'] {
  return { duration, spans, token: '', lifecycle: [], eventLoop: { blocked: [] }, request: { bodySize: null } }
}

function factsOf({ dropped, own, process, spans, time }: Boot): Fact[] {
  const ofKind = (wanted: Span['kind']) => spans.filter(({ kind }) => kind === wanted).length
  return [
    ['Process', process],
    ['Plugins', ofKind('plugin')],
    ['Queries', ofKind('query')],
    ['Profiler’s own', own === undefined ? null : formatDuration(own)],
    ['When', { html: renderTime(time), markdown: formatTime(time) }],
    ['Left out', dropped > 0 ? count(dropped, 'call') : null],
  ]
}

function renderHeader(boot: Boot, context: BootContext): Markup {
  return html`<section class="request ${tones[boot.state]}" aria-label="This start">
<div class="asked"><h1>${bootSentence(boot)}</h1></div>
${renderFacts(factsOf(boot), context)}
</section>`
}

function problemsOf(boot: Boot): Finding[] {
  const { failures, spans } = boot
  const finding = (tone: Tone, claim: string, detail: string, { location }: Span): Finding => ({
    tone,
    claim,
    detail,
    places: location === null ? [] : [location],
  })
  return [
    ...failures.flatMap(({ span: id, message }) => {
      const span = spans[id]
      return span === undefined ? [] : finding('error', `"${span.name}" failed.`, message, span)
    }),
    ...unfinishedSteps(boot).map(span => {
      const claim = `"${span.name}" has not ended after ${formatDuration(span.duration)}.`
      return finding('warning', claim, waitText(boot, span), span)
    }),
  ]
}

function stepsMarkdown(spans: readonly Span[], root: string): string {
  const depths = depthsOf(spans)
  const step = (span: Span, id: number): Inline[] => [
    `${'· '.repeat(depths[id] ?? 0)}${nameOf(span)}`,
    formatDuration(span.start),
    formatDuration(span.duration),
    span.location === null ? null : { place: span.location },
  ]
  const columns = [{ label: 'What ran' }, { label: 'Start' }, { label: 'Duration' }, { label: 'Place' }]
  return blocksMarkdown([{ title: 'Plugins', columns, rows: spans.map(step) }], root)
}

function nameOf({ hook, name, outcome }: Span): string {
  return [name, hook, outcome === 'continued' ? null : outcome].filter(part => part !== null).join(', ')
}

/** The newest start of the application, under the token "boot". */
export function bootRoutes(app: FastifyInstance, sources: PageSources): void {
  const { base, editorUrl, root } = sources

  app.get(`${base}/boot`, async function showBoot(request, reply) {
    const boot = newestBoot(sources.app)
    if (boot === null) return sendUnknown(request, reply, 'boot', sources)
    const context = { base, editorUrl, root, query: queryOf(request) }
    return sendFormats(request, reply, {
      html: () => renderBootPage(boot, context),
      json: () => boot,
      markdown: () => renderBootMarkdown(boot, context),
    })
  })
}

/** A start that takes longer, in milliseconds, is told in the overview. */
const slowStartFrom = 1000

/** What the page shows, for agents and the command line. */
export const bootQuestion: Question = {
  name: 'boot',
  title: 'The start',
  description:
    'Call when the application starts slowly, hangs or fails: tells what each plugin and onReady hook took and waited ' +
    'for, with its line.',
  parameters: {
    from: { type: 'integer', description: 'The line to go on at. Default: 0.', minimum: 0 },
  },
  required: [],
  command: { name: 'boot', takes: '', says: 'how the application started' },
  lately(sources) {
    const boot = bootOf(sources)
    return boot === null || (boot.state === 'ready' && boot.duration < slowStartFrom) ? null : bootSentence(boot)
  },
  async answer(asked, sources) {
    const boot = bootOf(sources)
    if (boot === null) return refusal('No start is stored.')
    const recorded = renderBootMarkdown(boot, { base: sources.base, editorUrl: null, root: sources.root })
    const section = sectionFrom('boot', 'What ran', recorded, asked)
    return { text: answerText('# The newest start', [section], [], asked.tokens), data: boot }
  },
}

function bootOf({ app, store }: AskedSources): Boot | null {
  return app === null ? readBoot(store.directory) : newestBoot(app)
}
