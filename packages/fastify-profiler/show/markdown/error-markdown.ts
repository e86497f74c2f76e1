import type { ViewContext } from '../../collect/panel.ts'
import type { LogLine } from '../../base/profile.ts'
import { isRoutingFailure } from '../parts/near-misses.ts'
import { profileUrl } from '../parts/profile-url.ts'
import { statusText } from '../parts/tone.ts'
import { exceptionsMarkdown, stackTracesMarkdown } from './exceptions-markdown.ts'
import { fitLines, fitParts, shortened } from './fit-lines.ts'
import { logsMarkdown } from './logs-markdown.ts'
import { blocks, code, plain } from './markdown.ts'
import { routingMarkdown } from './routing-markdown.ts'

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
  const parts: Part[] = [
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
    parts.unshift({ heading: 'Nearest routes', panel: 'routing', markdown: routingMarkdown(profile, root) })
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
