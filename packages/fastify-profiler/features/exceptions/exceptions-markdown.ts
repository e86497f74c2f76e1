import type { ViewContext } from '../../core/panel.ts'
import type { Exception, Excerpt, LogLine } from '../../core/profile.ts'
import { blocksMarkdown } from '../../core/view/block.ts'
import { locationText, statusText, valueText } from '../../core/view/elements.ts'
import { blocks, code, codeBlock, plain } from '../../core/view/markdown.ts'
import { profileUrl } from '../../core/view/urls.ts'
import { fitLines, fitParts, shortened } from '../home/fit-markdown.ts'
import { logsMarkdown } from '../logs/logs-panel.ts'
import { isRoutingFailure, nearestRoutes } from '../routing/routing-panel.ts'
import { failedQueryMarkdown, failedQueryOf } from './failed-query.ts'
import { crashText, foldedExceptions, stackTraceText, tellingFrames } from './exceptions.ts'

/** Every exception of the chain with its message, its properties and the source line that threw it. */
export function exceptionsMarkdown(exceptions: readonly Exception[], heading: string, root: string): string {
  const folded = foldedExceptions(exceptions)
  return blocks(
    ...exceptions.map((exception, index) => {
      const source = folded[index] === true ? undefined : exception.frames.find(({ kind }) => kind === 'own')
      const properties = Object.entries(exception.properties)
      return blocks(
        `${heading} ${index + 1}. ${plain(exception.class)} (${exception.relation}${exception.uncaught === undefined ? '' : `, nobody caught it, ${exception.uncaught}`})`,
        codeBlock(exception.message === '' ? 'No message.' : exception.message),
        properties.map(([name, value]) => `- ${code(name)}: ${code(valueText(value))}`).join('\n'),
        source === undefined ? null : code(locationText(source, root)),
        source?.excerpt === undefined ? null : excerptMarkdown(source.excerpt),
      )
    }),
  )
}

/** The stack trace of every exception; of a folded one only the application's frames. */
export function stackTracesMarkdown(exceptions: readonly Exception[], root: string): string {
  const folded = foldedExceptions(exceptions)
  return blocks(
    ...exceptions.map((exception, index) => {
      const shown = folded[index] === true ? { ...exception, frames: tellingFrames(exception) } : exception
      return codeBlock(stackTraceText(shown, root))
    }),
  )
}

/** The source around a frame, with the frame's line marked. */
export function excerptMarkdown(excerpt: Excerpt): string {
  const width = String(excerpt.first + excerpt.lines.length).length
  return codeBlock(
    excerpt.lines
      .map((line, index) => {
        const number = excerpt.first + index
        return `${number === excerpt.line ? '>' : ' '} ${String(number).padStart(width)} | ${line}`
      })
      .join('\n'),
    'ts',
  )
}

/** Bytes of the whole, which are 2,000 tokens by an estimate of four bytes each. */
const bytesMost = 8000

/** Bytes of each text in the head. */
const headMost = 400

/** Log lines of this level say what went wrong. */
const warning = 40

/** More lines may not all fit. */
const linesInOrder = 20

interface Part {
  heading: string
  /** The panel that has it in full. */
  panel: string
  markdown: string
}

/**
 * A failed request as Markdown, to paste into an issue or for clients that accept text/markdown. Has at most 2,000
 * tokens: a section that is too long ends with the URL of the panel that has it in full.
 */
export function renderErrorMarkdown({ profile, base, root }: ViewContext): string {
  const { exceptions, logs } = profile
  const message = shortened(profile.exceptions[0]?.message ?? '', headMost)
  const head = blocks(
    `# ${statusText(profile.status)}${message === '' ? '' : `: ${plain(message)}`}`,
    `${code(shortened(`${profile.method} ${profile.url}`, headMost))}, profile ${code(shortened(`${base}/${profile.token}`, headMost))}`,
  )
  const failed = failedQueryOf(profile)
  const parts: Part[] = [
    ...(failed === null
      ? []
      : [{ heading: `Query ${failed.number} failed`, panel: 'database', markdown: failedQueryMarkdown(failed) }]),
    {
      heading: `Exceptions (${exceptions.length})`,
      panel: 'exception',
      markdown: exceptionsMarkdown(exceptions, '###', root),
    },
    {
      heading: `Logs (${logs.length})`,
      panel: 'logs',
      markdown: logs.length === 0 ? '' : logsMarkdown(telling(logs), root),
    },
    {
      heading: `Stack Traces (${exceptions.length})`,
      panel: 'exception',
      markdown: stackTracesMarkdown(exceptions, root),
    },
  ]
  if (isRoutingFailure(profile)) {
    parts.unshift({
      heading: 'Nearest routes',
      panel: 'routing',
      markdown: blocksMarkdown(nearestRoutes(profile), root),
    })
  }
  const texts = fitParts(
    parts,
    bytesMost - Buffer.byteLength(head) - 3,
    ({ markdown }) => markdown,
    (part, bytes) => fitted(part, bytes, shortened(profileUrl(base, profile.token, part.panel), headMost)),
  )
  return `${blocks(head, ...texts)}\n`
}

function fitted({ heading, markdown }: Part, bytes: number, url: string): string {
  const { text, more } = fitLines(markdown, bytes - heading.length - url.length - 50)
  return blocks(`## ${heading}`, text, more > 0 ? `${more} more lines: ${code(url)}` : null)
}

/** All lines in order, or of many first those that say what went wrong. */
function telling(logs: readonly LogLine[]): readonly LogLine[] {
  if (logs.length <= linesInOrder) return logs
  return [...logs].sort((one, other) => Number(other.level >= warning) - Number(one.level >= warning))
}

/** The sections of a failed request as Markdown, below the heading of its panel. */
export function exceptionSectionsMarkdown({ profile, root }: ViewContext): string {
  const { crash, exceptions, logs } = profile
  const failed = failedQueryOf(profile)
  return blocks(
    crash === undefined ? null : crashText(crash),
    failed === null ? null : blocks(`### Query ${failed.number} failed`, failedQueryMarkdown(failed)),
    isRoutingFailure(profile) ? blocks('### Nearest routes', blocksMarkdown(nearestRoutes(profile), root)) : null,
    `### Exceptions (${exceptions.length})`,
    exceptionsMarkdown(exceptions, '####', root),
    `### Logs (${logs.length})`,
    logs.length === 0 ? null : logsMarkdown(logs, root),
    `### Stack Traces (${exceptions.length})`,
    stackTracesMarkdown(exceptions, root),
  )
}
