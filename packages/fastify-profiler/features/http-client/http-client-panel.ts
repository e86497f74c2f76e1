import type { BuiltInPanel, Tone, ToolbarCard, ViewContext } from '../../core/panel.ts'
import type { HttpCall, HttpUse } from '../../core/profile.ts'
import {
  locationText,
  renderBadge,
  renderDataTable,
  renderLocation,
  renderMetrics,
  renderSection,
} from '../../core/view/elements.ts'
import { html } from '../../core/view/html.ts'
import { blocks, code, plain, table } from '../../core/view/markdown.ts'
import { count as counted, formatDuration, formatNumber } from '../../core/view/units.ts'

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

const notOver = 'The response had not arrived in full when the profile was made.'

/** Every HTTP request that the application has made: URL, status, size, caller, times. */
export const httpClientPanel: BuiltInPanel<HttpUse> = {
  name: 'http-client',
  label: 'HTTP client',
  read: ({ http }) => http,
  badge: data => ({ text: String(data.count), tone: toneOf(data) }),
  toolbarItem: data => ({
    label: 'HTTP',
    value: `${data.count} · ${formatDuration(data.duration)}`,
    tone: toneOf(data),
    card: httpCard(data),
  }),
  body(data, context) {
    const { count, failed, duration, calls } = data
    return html`${renderMetrics([
      { label: 'Requests', value: String(count), ...(failed > 0 && { note: `${failed} failed` }) },
      { label: 'Total time', value: formatDuration(duration) },
    ])}
${renderSection('Requests', html`${calls.length < count && html`<p class="notice">${shownOf(data)}</p>`}${renderCalls(calls, context)}`, count)}`
  },
  markdown: (data, context) =>
    blocks(
      `${counted(data.count, 'request')} in ${formatDuration(data.duration)}, ${counted(data.failed, 'failure')}.`,
      table(
        ['#', 'Duration', 'Until the head', 'Status', 'Bytes', 'Request', 'Called from'],
        data.calls.map(({ method, url, status, size, head, duration, error, location }, index) => [
          String(index + 1),
          duration === null ? '' : formatDuration(duration),
          head === null ? '' : formatDuration(head),
          status === null ? '' : String(status),
          size === null ? '' : String(size),
          `${code(`${method} ${url}`)}${duration === null ? ` ${notOver}` : ''}${error === null ? '' : ` failed: ${plain(error)}`}`,
          location === null ? '' : code(locationText(location, context.root)),
        ]),
      ),
      data.calls.length < data.count ? shownOf(data) : null,
    ),
}

function shownOf({ count, calls }: HttpUse): string {
  return `Showing the first ${calls.length} of ${count} requests. The totals include all of them.`
}

function toneOf({ failed }: HttpUse): Tone {
  return failed > 0 ? 'error' : 'neutral'
}

function renderCalls(calls: readonly HttpCall[], context: ViewContext) {
  return renderDataTable(
    'Requests',
    [
      { label: '#', kind: 'number' },
      { label: 'Duration', kind: 'number' },
      { label: 'Status', kind: 'number' },
      { label: 'Bytes', kind: 'number' },
      { label: 'Request' },
    ],
    calls.map((call, index) => ({
      cells: [
        String(index + 1),
        call.duration === null ? '–' : formatDuration(call.duration),
        call.status === null ? '–' : String(call.status),
        call.size === null ? '–' : String(call.size),
        renderCall(call, context),
      ],
    })),
  )
}

function renderCall({ method, url, duration, head, error, location, token }: HttpCall, context: ViewContext) {
  return html`<p><code>${method} ${url}</code></p>
${duration === null && html`<p>${renderBadge('unfinished', 'warning')} ${notOver}</p>`}
${error !== null && html`<p>${renderBadge('failed', 'error')} ${error}</p>`}
<small>${location !== null && renderLocation(location, context)}${head !== null && html` · head after ${formatDuration(head)}`}${token !== null && html` · its profile there: <code>${token}</code>`}</small>`
}
