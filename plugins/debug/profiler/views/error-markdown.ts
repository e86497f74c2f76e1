import type { ViewContext } from '../panel.ts'
import { exceptionsMarkdown } from './exceptions-markdown.ts'
import { logsMarkdown } from './logs-markdown.ts'
import { blocks, code, plain } from './markdown.ts'
import { isRoutingFailure } from './near-misses.ts'
import { routingMarkdown } from './routing-markdown.ts'
import { statusText } from './tone.ts'

/** A failed request as Markdown: for an issue, a colleague, or whoever asks with Accept: text/markdown. */
export function renderErrorMarkdown ({ profile, base, root }: ViewContext): string {
  const { exceptions, logs } = profile
  const message = exceptions[0]?.message ?? ''
  return blocks(
    `# ${statusText(profile.status)}${message === '' ? '' : `: ${plain(message)}`}`,
    `${code(`${profile.method} ${profile.url}`)}, profile ${code(`${base}/${profile.token}`)}`,
    isRoutingFailure(profile) ? blocks('## What would have matched', routingMarkdown(profile, root)) : null,
    `## Exceptions (${exceptions.length})`,
    exceptionsMarkdown(exceptions, root),
    `## Logs (${logs.length})`,
    logs.length === 0 ? null : logsMarkdown(logs)
  ) + '\n'
}
