import type { BuiltInPanel } from '../../collect/panel.ts'
import type { DispatchPoint, Profile } from '../../base/profile.ts'
import {
  errorHandling,
  interruptionText,
  noErrorHandler,
  renderDispatchPoints,
  renderErrorHandling,
} from '../parts/dispatch-points.ts'
import { html } from '../../base/html.ts'
import { blocks, code, plain, table } from '../markdown/markdown.ts'
import { locationText } from '../parts/location.ts'
import { formatDuration } from '../parts/units.ts'

/** The dispatch points from kernel.request to kernel.finish_request, with their listeners. */
export const lifecyclePanel: BuiltInPanel<DispatchPoint[]> = {
  name: 'lifecycle',
  label: 'Lifecycle',
  read: ({ lifecycle }) => lifecycle,
  body: (_, context) => html`${renderDispatchPoints(context)}${renderErrorHandling(context)}`,
  markdown: (points, { profile, root }) =>
    blocks(
      ...points.map(point => {
        const interruption = interruptionText(point, profile)
        const listeners = point.listeners.flatMap(id => profile.spans[id] ?? [])
        return blocks(
          `### ${plain(point.name)}`,
          point.start === null
            ? 'Not reached.'
            : `${point.hooks.map(plain).join(', ')}, ${formatDuration(point.duration)}`,
          interruption === null ? null : plain(interruption),
          listeners.length === 0
            ? null
            : table(
                ['Listener', 'Hook', 'Registered at', 'Duration', 'Outcome'],
                listeners.map(span => [
                  plain(span.name),
                  plain(span.hook ?? ''),
                  span.location === null ? '' : code(locationText(span.location, root)),
                  formatDuration(span.duration),
                  span.outcome,
                ]),
              ),
        )
      }),
      errorHandlingMarkdown(profile, root),
    ),
}

function errorHandlingMarkdown(profile: Profile, root: string): string | null {
  const called = errorHandling(profile)
  if (called === null) return null
  return blocks(
    '### Error handling',
    called.length === 0
      ? noErrorHandler
      : table(
          ['Error handler', 'Exception', 'Registered at', 'Duration', 'Outcome'],
          called.map(({ span, text }) => [
            plain(span.name),
            plain(text ?? ''),
            span.location === null ? '' : code(locationText(span.location, root)),
            formatDuration(span.duration),
            span.outcome,
          ]),
        ),
  )
}
