import type { BuiltInPanel } from '../../panel.ts'
import type { DispatchPoint } from '../../profile.ts'
import { interruptionText, renderDispatchPoints } from '../dispatch-points.ts'
import { blocks, code, plain, table } from '../markdown.ts'
import { locationText } from '../location.ts'
import { formatDuration } from '../units.ts'

/** The dispatch points from kernel.request to kernel.finish_request, and who listened. */
export const lifecyclePanel: BuiltInPanel<DispatchPoint[]> = {
  name: 'lifecycle',
  label: 'Lifecycle',
  read: ({ lifecycle }) => lifecycle,
  body: (_, context) => renderDispatchPoints(context),
  markdown: (points, { profile, root }) => blocks(...points.map(point => {
    const interruption = interruptionText(point, profile)
    const listeners = point.listeners.flatMap(id => profile.spans[id] ?? [])
    return blocks(
      `### ${plain(point.name)}`,
      point.start === null ? 'Never came.' : `${point.hooks.map(plain).join(', ')}, ${formatDuration(point.duration)}`,
      interruption === null ? null : plain(interruption),
      listeners.length === 0
        ? null
        : table(['Listener', 'Hook', 'Registered at', 'Time', 'Outcome'], listeners.map(span => [
          plain(span.name),
          plain(span.hook ?? ''),
          span.location === null ? '' : code(locationText(span.location, root)),
          formatDuration(span.duration),
          span.outcome
        ]))
    )
  }))
}
