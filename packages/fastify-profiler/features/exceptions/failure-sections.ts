import type { ViewContext } from '../../core/panel.ts'
import type { LogLine } from '../../core/profile.ts'
import { type Block, type Blocks, blocksMarkdown, emptyBlocks } from '../../core/view/block.ts'
import { levelTone, statusText } from '../../core/view/elements.ts'
import { blocks, code, plain } from '../../core/view/markdown.ts'
import { profileUrl } from '../../core/urls.ts'
import { fitLines, fitParts, cutToBytes } from '../home/fit-markdown.ts'
import { logsMarkdown, renderLogTable } from '../logs/logs-panel.ts'
import { failedBefore, isSilentFailure } from '../performance/failed-calls.ts'
import { isRoutingFailure, nearestRoutes } from '../routing/routing-panel.ts'
import { crashText, exceptionBlocks, stackTraceText, worstOf } from './exceptions.ts'
import { failedQueryOf, failedQuerySection } from './failed-query.ts'

interface FailureSection {
  section: string
  id: string
  count?: number
  /** The panel that has it in full. */
  panel: string
  blocks: Blocks
}

/** The sections of a failed request, on its error page, in the profiler and as a text. */
export function failureSections(context: ViewContext): FailureSection[] {
  const { profile, root } = context
  const { crash, exceptions, logs } = profile
  const isRouting = isRoutingFailure(profile)
  const failed = failedQueryOf(profile)
  const traced = exceptions.filter(({ frames }) => frames.length > 0)
  const before = exceptions.length === 0 ? null : failedBefore(profile)
  const traces = traced.map((exception, index): Block => {
    const trace: Block = { source: stackTraceText(exception, root), language: 'text' }
    // For copying: the outermost is open.
    return index === 0 && !isRouting ? trace : { fold: exception.class, blocks: [trace] }
  })
  return [
    ...(isRouting
      ? [{ section: 'Nearest routes', id: 'matches', panel: 'routing', blocks: nearestRoutes(profile) }]
      : []),
    {
      section: 'Exceptions',
      id: 'exceptions',
      count: exceptions.length,
      panel: 'exception',
      blocks: [
        crash !== undefined && { notice: crashText(crash), tone: 'error' },
        failed && failedQuerySection(failed, context),
        before && { notice: [before.says, before.location && [' ', { place: before.location }]], tone: 'warning' },
        ...(exceptions.length === 0
          ? emptyBlocks(`No exception was ${isSilentFailure(profile) ? 'seen' : 'thrown'}.`)
          : exceptionBlocks(profile, context)),
      ],
    },
    {
      section: 'Logs',
      id: 'logs',
      count: logs.length,
      panel: 'logs',
      blocks:
        logs.length === 0
          ? emptyBlocks('No log line was recorded.')
          : [{ html: renderLogTable(profile, context), markdown: logsMarkdown(telling(logs), root) }],
    },
    { section: 'Stack Traces', id: 'stack-traces', count: traced.length, panel: 'exception', blocks: traces },
  ]
}

/** More lines may not all fit. */
const linesInOrder = 20

/** All lines in order, or of many first those that say what went wrong. */
function telling(logs: readonly LogLine[]): readonly LogLine[] {
  if (logs.length <= linesInOrder) return logs
  const isTelling = ({ level }: LogLine) => Number(levelTone(level) !== 'neutral')
  return logs.toSorted((one, other) => isTelling(other) - isTelling(one))
}

/** Bytes of the whole, which are 2,000 tokens by an estimate of four bytes each. */
const bytesMost = 8000

/** Bytes of each text in the head. */
const headMost = 400

/**
 * A failed request as Markdown, to paste into an issue or for clients that accept text/markdown. Has at most 2,000
 * tokens: a section that is too long ends with the URL of the panel that has it in full.
 */
export function renderErrorMarkdown(context: ViewContext): string {
  const { base, profile, root } = context
  const message = cutToBytes(profile.exceptions[worstOf(profile)]?.message ?? '', headMost)
  const head = blocks(
    `# ${statusText(profile.status)}${message === '' ? '' : `: ${plain(message)}`}`,
    `${code(cutToBytes(`${profile.method} ${profile.url}`, headMost))}, profile ${code(cutToBytes(`${base}/${profile.token}`, headMost))}`,
  )
  const parts = failureSections(context).map(({ blocks, count, panel, section }) => ({
    heading: count === undefined ? section : `${section} (${count})`,
    url: cutToBytes(profileUrl(base, profile.token, panel), headMost),
    markdown: blocksMarkdown(blocks, root),
  }))
  const texts = fitParts(
    parts,
    bytesMost - Buffer.byteLength(head) - 3,
    ({ markdown }) => markdown,
    ({ heading, markdown, url }, bytes) => {
      const { text, more } = fitLines(markdown, bytes - heading.length - url.length - 50)
      return blocks(`## ${heading}`, text, more > 0 ? `${more} more lines: ${code(url)}` : null)
    },
  )
  return `${blocks(head, ...texts)}\n`
}
