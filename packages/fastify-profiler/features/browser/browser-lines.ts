import type { Json, LogLine, Profile } from '../../core/profile.ts'
import type { BrowserEvent } from './browser-events.ts'

const names = { error: 'uncaught error', rejection: 'unhandled rejection', request: 'failed request' } as const

/** What the page has reported, as log lines, so that it is counted and shown as they are. */
export function browserLines({ browser = [] }: Pick<Profile, 'browser'>): LogLine[] {
  return browser.map(event => ({
    level: event.status !== null && event.status < 500 ? 40 : 50,
    start: event.time,
    message: messageOf(event),
    fields: fieldsOf(event),
  }))
}

function messageOf({ kind, message, status }: BrowserEvent): string {
  return kind === 'request' ? `${status ?? 'no response'} ${message}` : message
}

function fieldsOf({ kind, place, stack }: BrowserEvent): Record<string, Json> {
  return { browser: names[kind], ...(place !== null && { place }), ...(stack !== null && { stack }) }
}
