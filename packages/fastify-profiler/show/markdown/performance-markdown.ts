import { sliceTime, timeByKind } from '../../collect/exclusive-time.ts'
import { findingsOf } from '../../collect/findings.ts'
import type { ViewContext } from '../../collect/panel.ts'
import { slowestCalls } from '../../collect/slowest-calls.ts'
import type { Profile } from '../../base/profile.ts'
import { findingText } from '../parts/findings.ts'
import { locationText } from '../parts/location.ts'
import { callName } from '../parts/slowest-five.ts'
import { kindView } from '../parts/span-kind.ts'
import { formatBytes, formatDuration, formatShare } from '../parts/units.ts'
import { blocks, code, plain, table } from './markdown.ts'

const callsListed = 20

/** The time of a request by kind, what is worth changing, and what took longest. */
export function performanceMarkdown(profile: Profile, { root }: ViewContext): string {
  const { duration, memory } = profile
  const growth = memory.heapUsedAtEnd - memory.heapUsedAtStart
  const slices = sliceTime(profile)
  return blocks(
    `Total ${formatDuration(duration)}, event loop utilization ${Math.round(profile.eventLoop.utilization * 100)} %, heap ${formatBytes(memory.heapUsedAtEnd)} at the end, ${growth < 0 ? '−' : '+'}${formatBytes(Math.abs(growth))} meanwhile.`,
    table(
      ['Kind', 'Time', 'Share'],
      timeByKind(slices).map(([kind, time]) => [
        kindView(kind).label,
        formatDuration(time),
        formatShare(time, duration),
      ]),
    ),
    findingsOf(profile, slices)
      .map(finding => {
        const place = finding.location === null ? '' : ` ${code(locationText(finding.location, root))}`
        return `- ${plain(findingText(finding, duration).join(' '))}${place}`
      })
      .join('\n'),
    '### Slowest calls',
    table(
      ['Name', 'Time', 'Share', 'Called from'],
      slowestCalls(profile, slices)
        .slice(0, callsListed)
        .map(call => [
          plain(callName(call)),
          formatDuration(call.time),
          formatShare(call.time, duration),
          call.span?.location == null ? '' : code(locationText(call.span.location, root)),
        ]),
    ),
  )
}
