import type { ViewContext } from '../../collect/panel.ts'
import { exceptionsMarkdown, stackTracesMarkdown } from './exceptions-markdown.ts'
import { logsMarkdown } from './logs-markdown.ts'
import { blocks } from './markdown.ts'
import { isRoutingFailure } from '../parts/near-misses.ts'
import { routingMarkdown } from './routing-markdown.ts'

/** The sections of a failed request as Markdown, below the heading of its panel. */
export function exceptionSectionsMarkdown({ profile, root }: ViewContext): string {
  const { exceptions, logs } = profile
  return blocks(
    isRoutingFailure(profile) ? blocks('### Nearest routes', routingMarkdown(profile, root)) : null,
    `### Exceptions (${exceptions.length})`,
    exceptionsMarkdown(exceptions, '####', root),
    `### Logs (${logs.length})`,
    logs.length === 0 ? null : logsMarkdown(logs, root),
    `### Stack Traces (${exceptions.length})`,
    stackTracesMarkdown(exceptions, root),
  )
}
