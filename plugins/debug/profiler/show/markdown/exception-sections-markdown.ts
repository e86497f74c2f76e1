import type { ViewContext } from '../../collect/panel.ts'
import { exceptionsMarkdown, stackTracesMarkdown } from './exceptions-markdown.ts'
import { logsMarkdown } from './logs-markdown.ts'
import { blocks } from './markdown.ts'
import { isRoutingFailure } from '../parts/near-misses.ts'
import { routingMarkdown } from './routing-markdown.ts'

/** The sections of a failed request as Markdown, with headings of this level. */
export function exceptionSectionsMarkdown({ profile, root }: ViewContext, level: 2 | 3): string {
  const { exceptions, logs } = profile
  const heading = '#'.repeat(level)
  return blocks(
    isRoutingFailure(profile) ? blocks(`${heading} Nearest routes`, routingMarkdown(profile, root)) : null,
    `${heading} Exceptions (${exceptions.length})`,
    exceptionsMarkdown(exceptions, `${heading}#`),
    `${heading} Logs (${logs.length})`,
    logs.length === 0 ? null : logsMarkdown(logs),
    `${heading} Stack Traces (${exceptions.length})`,
    stackTracesMarkdown(exceptions, root),
  )
}
