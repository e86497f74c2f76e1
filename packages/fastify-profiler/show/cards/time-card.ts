import type { Profile } from '../../base/profile.ts'
import { sliceTime } from '../../collect/exclusive-time.ts'
import { findingsOf } from '../../collect/findings.ts'
import type { ToolbarCard } from '../../collect/panel.ts'
import { slowestCalls } from '../../collect/slowest-calls.ts'
import { findingText } from '../parts/findings.ts'
import { callName } from '../parts/slowest-five.ts'
import { formatDuration, formatNumber, formatShare } from '../parts/units.ts'

/** What took the time of a request. */
export function timeCard(profile: Profile): ToolbarCard {
  const { duration, eventLoop } = profile
  const slices = sliceTime(profile)
  return {
    title: formatDuration(duration),
    note: `event loop busy ${Math.round(eventLoop.utilization * 100)}%`,
    warnings: findingsOf(profile, slices)
      .filter(({ what }) => what !== 'waited')
      .map(finding => findingText(finding, duration)[0]),
    rows: slowestCalls(profile, slices).map(call => [
      formatShare(call.time, duration),
      callName(call),
      formatNumber(call.time),
    ]),
  }
}
