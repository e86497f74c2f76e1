import type { Boot } from '../../base/boot.ts'
import type { Span } from '../../base/profile.ts'
import { bootSentence, unfinishedSteps, waitText } from '../parts/boot-sentence.ts'
import { locationText } from '../parts/location.ts'
import { formatDuration, formatTime } from '../parts/units.ts'
import { blocks, code, plain, table } from './markdown.ts'

/** How the application started, as Markdown. */
export function renderBootMarkdown(boot: Boot, root: string): string {
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
