import type { BuiltInPanel, ToolbarCard } from '../../core/panel.ts'
import type { HttpCall, HttpUse } from '../../core/profile.ts'
import type { Finding, Inline } from '../../core/view/block.ts'
import { figures, statusTone } from '../../core/view/elements.ts'
import { count as counted, formatDuration, formatMilliseconds, formatNumber } from '../../core/view/units.ts'
import { callsBadge, callsItem, shareOfRequest } from '../home/profile-header.ts'
import { type BarPiece, renderAxis, renderTicks, renderTrack, waterfallScale } from '../performance/waterfall.ts'

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
  badge: callsBadge,
  toolbarItem: data => callsItem('HTTP', data, httpCard(data)),
  view(data, { profile }) {
    const { count, failed, duration, calls } = data
    const scale = waterfallScale(profile)
    return [
      {
        metrics: [
          ['Requests', count.toLocaleString('en'), failed > 0 ? `${failed} failed` : null],
          shareOfRequest(duration, profile.duration, overlapText(data)),
        ],
      },
      calls.length < count && {
        notice: `Listed are the first ${calls.length} of ${counted(count, 'request')}. The totals include all of them.`,
      },
      { findings: calls.flatMap(call => failureOf(call)) },
      { html: renderTicks(scale), markdown: '' },
      {
        title: 'Requests',
        lines: 'calls',
        columns: [
          { label: 'Request' },
          { label: 'Called from', kind: 'short' },
          figures('Status'),
          figures('kB', true),
          figures('First byte', true),
          figures('ms'),
          { label: 'When', head: renderAxis(scale, profile.duration), only: 'page' },
        ],
        rows: calls.map(call => [
          callText(call),
          call.location === null ? null : { place: call.location },
          statusTone(call.status) === 'error' ? { badge: String(call.status), tone: 'error' } : (call.status ?? '–'),
          call.size === null ? '–' : formatNumber(call.size / 1000),
          call.head === null ? '–' : formatMilliseconds(call.head),
          call.duration === null ? '–' : formatMilliseconds(call.duration),
          { html: renderTrack(callPieces(call, scale), scale), markdown: '' },
        ]),
      },
      {
        text: 'Pale: until the first byte of the response. Calls at once are counted once in the time above.',
        look: 'muted',
      },
    ]
  },
}

/** Pale until the first byte, then full. One that is not over goes on. */
function callPieces({ blocked, duration, head, start }: HttpCall, scale: number): BarPiece[] {
  const end = duration === null ? scale : start + duration + blocked
  const first = head === null ? end : Math.min(start + head + blocked, end)
  return [
    { colour: 'http calling', start, end: first },
    ...(first < end ? [{ colour: 'http', start: first, end }] : []),
  ]
}

/** What requests at once would have taken one after another, without late ones; null if none were at once. */
function overlapText({ calls, duration }: HttpUse): string | null {
  const durations = calls.flatMap(call => (call.isLate ? [] : (call.duration ?? [])))
  const sum = durations.reduce((total, time) => total + time, 0)
  return durations.length > 1 && sum > duration * 1.05 ? `${formatDuration(sum)} if one after another` : null
}

function failureOf({ duration, error, location, method, url }: HttpCall): Finding[] {
  if (error === null && duration !== null) return []
  return [
    {
      tone: error === null ? 'warning' : 'error',
      claim: { code: `${method} ${url}` },
      detail: error === null ? notOver : `failed: ${error}`,
      places: location === null ? [] : [location],
    },
  ]
}

function callText({ blocked, method, url, duration, error, isLate, token }: HttpCall): Inline {
  return [
    duration === null ? [{ badge: 'unfinished', tone: 'warning' }, ' '] : null,
    error === null ? null : [{ badge: 'failed', tone: 'error' }, ' '],
    { code: `${method} ${url}` },
    ...(isLate ? [' ', { badge: 'after the response' }] : []),
    blocked > 0 ? [' ', { small: `event loop blocked for ${formatDuration(blocked)} meanwhile` }] : null,
    token === null ? null : [' ', { small: ['its profile there: ', { code: token }] }],
  ]
}
