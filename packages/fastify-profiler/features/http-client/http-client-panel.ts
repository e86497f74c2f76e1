import type { BuiltInPanel, Tone, ToolbarCard } from '../../core/panel.ts'
import type { HttpCall, HttpUse } from '../../core/profile.ts'
import type { Inline } from '../../core/view/block.ts'
import { count as counted, formatDuration, formatNumber, formatShare } from '../../core/view/units.ts'

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
    value: `${data.count.toLocaleString('en')} · ${formatDuration(data.duration)}`,
    tone: toneOf(data),
    card: httpCard(data),
  }),
  view(data, { profile }) {
    const { count, failed, duration, calls } = data
    return [
      {
        metrics: [
          ['Requests', count.toLocaleString('en'), failed > 0 ? `${failed} failed` : null],
          [`${formatShare(duration, profile.duration)} of the request`, formatDuration(duration), overlapText(data)],
        ],
      },
      ...(calls.length < count ? [{ notice: shownOf(data) }] : []),
      {
        title: 'Requests',
        columns: [
          { label: '#', kind: 'number' },
          { label: 'Duration', kind: 'number' },
          { label: 'Until the head', kind: 'number' },
          { label: 'Status', kind: 'number' },
          { label: 'Bytes', kind: 'number' },
          { label: 'Request' },
        ],
        rows: calls.map((call, index) => [
          index + 1,
          call.duration === null ? '–' : formatDuration(call.duration),
          call.head === null ? '–' : formatDuration(call.head),
          call.status ?? '–',
          call.size ?? '–',
          callText(call),
        ]),
      },
    ]
  },
}

/** What requests at once would have taken one after another; null if there were none. */
function overlapText({ calls, duration }: HttpUse): string | null {
  const sum = calls.reduce((total, call) => total + (call.duration ?? 0), 0)
  return sum > duration * 1.05 ? `${formatDuration(sum)} if one after another` : null
}

function shownOf({ count, calls }: HttpUse): string {
  return `Listed are the first ${calls.length} of ${counted(count, 'request')}. The totals include all of them.`
}

function toneOf({ failed }: HttpUse): Tone {
  return failed > 0 ? 'error' : 'neutral'
}

function callText({ blocked, method, url, duration, error, isLate, location, token }: HttpCall): Inline {
  return [
    { code: `${method} ${url}` },
    ...(isLate ? [' ', { badge: 'after the response' }] : []),
    duration === null ? [' ', { badge: 'unfinished', tone: 'warning' }, ` ${notOver}`] : null,
    blocked > 0 ? [' ', { small: `event loop blocked for ${formatDuration(blocked)} meanwhile` }] : null,
    error === null ? null : [' ', { badge: 'failed', tone: 'error' }, ` ${error}`],
    location === null ? null : [' ', { small: { place: location } }],
    token === null ? null : [' ', { small: ['its profile there: ', { code: token }] }],
  ]
}
