import type { ProfileBounds } from '../base/bounds.ts'
import type { BrowserEvent } from '../base/browser-event.ts'
import { propertyOf } from '../base/foreign-value.ts'
import { Mask } from '../mask/mask.ts'
import type { KnownSecrets } from '../mask/known-secrets.ts'
import { RequestSecrets } from '../mask/request-secrets.ts'

/** Events of one report. */
const eventsRead = 20

/** A day. A page that is open for longer is not told apart. */
const latest = 86_400_000

const kinds = ['error', 'rejection', 'request'] as const

/** Reads what a page has sent: `{ events: [...] }`. @returns the events that make sense, masked and bounded */
export function describeBrowserEvents(
  report: unknown,
  bounds: ProfileBounds,
  secrets: KnownSecrets | null,
): BrowserEvent[] {
  const events = propertyOf(report, 'events')
  if (!Array.isArray(events)) return []
  const mask = new Mask(bounds, new RequestSecrets(bounds, secrets))
  return events.slice(0, eventsRead).flatMap((event: unknown) => describeEvent(event, mask))
}

function describeEvent(event: unknown, mask: Mask): BrowserEvent[] {
  const text = (name: string) => {
    const value = propertyOf(event, name)
    return typeof value === 'string' && value !== '' ? mask.text(value) : null
  }
  const kind = kinds.find(kind => kind === propertyOf(event, 'kind'))
  const message = text('message')
  if (kind === undefined || message === null) return []
  const status = propertyOf(event, 'status')
  return [
    {
      kind,
      time: within(propertyOf(event, 'time'), 0, latest) ?? 0,
      message,
      place: text('place'),
      stack: text('stack'),
      status: within(status, 100, 599),
    },
  ]
}

/** A number in these limits, rounded; null for anything else. */
function within(value: unknown, least: number, most: number): number | null {
  return typeof value === 'number' && value >= least && value <= most ? Math.round(value) : null
}
