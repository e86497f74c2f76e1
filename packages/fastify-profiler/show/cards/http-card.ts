import type { HttpUse } from '../../base/profile.ts'
import type { ToolbarCard } from '../../collect/panel.ts'
import { count as counted, formatDuration, formatNumber } from '../parts/units.ts'

/** The outgoing requests that took longest. */
export function httpCard({ calls, count, duration, failed }: HttpUse): ToolbarCard {
  return {
    title: `${counted(count, 'request')}, ${formatDuration(duration)}`,
    ...(failed > 0 && { warnings: [`${failed} failed`] }),
    rows: calls
      .toSorted((one, other) => (other.duration ?? 0) - (one.duration ?? 0))
      .map(({ duration, method, status, url }) => [
        status === null ? '–' : String(status),
        `${method} ${url}`,
        duration === null ? 'not over' : formatNumber(duration),
      ]),
  }
}
