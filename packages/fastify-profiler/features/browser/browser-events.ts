import { readFileSync, rmSync, statSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { ProfileBounds } from '../../core/bounds.ts'
import type { PageSources } from '../../core/feature.ts'
import { attempt, isObject, propertyOf } from '../../core/foreign-value.ts'
import type { KnownSecrets } from '../../core/mask/known-secrets.ts'
import { Mask } from '../../core/mask/mask.ts'
import { RequestSecrets } from '../../core/mask/request-secrets.ts'
import type { LogLine, Profile } from '../../core/profile.ts'
import type { StoreDirectory } from '../../core/store/store-directory.ts'
import { isSameOrigin } from '../../core/view/page-guard.ts'

declare module '../../core/profile.ts' {
  interface Profile {
    /** What the page has reported, stored apart and added when the profile is read. Missing if there is nothing. */
    browser?: BrowserEvent[]
  }
}

/**
 * Something that went wrong in the browser that shows a page. error: a script threw. rejection: a promise was rejected
 * and nobody handled it. request: one of the page's own requests failed.
 */
interface BrowserEvent {
  kind: 'error' | 'rejection' | 'request'
  /** Milliseconds since the browser asked for the page. */
  time: number
  /** The error's message, or the URL of the request. */
  message: string
  /** The file, line and column of an error; null if the browser does not tell. */
  place: string | null
  stack: string | null
  /** The status of a request; null for errors, and without a response. */
  status: number | null
}

/** Events of one report. */
const eventsRead = 20

/** A day. A page that is open for longer is not told apart. */
const latest = 86_400_000

const kinds = ['error', 'rejection', 'request'] as const

/** Reads what a page has sent: `{ events: [...] }`. @returns the events that make sense, masked and bounded */
function describeBrowserEvents(report: unknown, bounds: ProfileBounds, secrets: KnownSecrets | null): BrowserEvent[] {
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
  const time = within(propertyOf(event, 'time'), 0, latest) ?? 0
  const status = within(propertyOf(event, 'status'), 100, 599)
  return [{ kind, time, message, place: text('place'), stack: text('stack'), status }]
}

/** A number in these limits, rounded; null for anything else. */
function within(value: unknown, least: number, most: number): number | null {
  return typeof value === 'number' && value >= least && value <= most ? Math.round(value) : null
}

/** Profiles with events. The oldest file is deleted for a new one. */
const filesKept = 100

/** Bytes and events of one profile. */
const bytesKept = 64 * 1024
const eventsKept = 50

const fileName = /^browser-[\w%-]+\.json$/

/**
 * Adds the events to a profile's, which are in a file of their own, since stored profiles are never changed. Throws
 * errors of the file system. @returns false if the profile has too many
 */
function addEvents(directory: StoreDirectory, token: string, events: readonly BrowserEvent[]): boolean {
  const all = [...eventsOf(directory, token), ...events]
  const text = JSON.stringify(all)
  if (all.length > eventsKept || Buffer.byteLength(text) > bytesKept) return false
  directory.replace(nameOf(token), text)
  prune(directory)
  return true
}

/** The events of a profile; none if they have been deleted or cannot be read. */
function eventsOf(directory: StoreDirectory, token: string): BrowserEvent[] {
  return attempt(() => {
    const events: unknown = JSON.parse(readFileSync(directory.pathOf(nameOf(token)), 'utf8'))
    return Array.isArray(events) ? events.filter(isEvent) : []
  }, [])
}

function prune(directory: StoreDirectory): void {
  const paths = directory.filesNamed(fileName).map(name => directory.pathOf(name))
  if (paths.length <= filesKept) return
  // Another process may delete one meanwhile.
  const ageOf = (path: string) => attempt(() => statSync(path).mtimeMs, 0)
  const byAge = paths.map(path => ({ path, time: ageOf(path) })).sort((one, other) => one.time - other.time)
  for (const { path } of byAge.slice(0, -filesKept)) rmSync(path, { force: true })
}

export function withEvents({ token }: Profile, directory: StoreDirectory): Partial<Profile> {
  const browser = eventsOf(directory, token)
  return browser.length === 0 ? {} : { browser }
}

function nameOf(token: string): string {
  return `browser-${encodeURIComponent(token)}.json`
}

function isEvent(value: unknown): value is BrowserEvent {
  return isObject(value) && 'kind' in value && 'message' in value && typeof value.message === 'string'
}

const names = { error: 'uncaught error', rejection: 'unhandled rejection', request: 'failed request' } as const

/** What the page has reported, as log lines, so that it is counted and shown as they are. */
export function browserLines({ browser = [] }: Pick<Profile, 'browser'>): LogLine[] {
  return browser.map(({ kind, message, place, stack, status, time }) => ({
    level: status !== null && status < 500 ? 40 : 50,
    start: time,
    message: kind === 'request' ? `${status ?? 'no response'} ${message}` : message,
    fields: { browser: names[kind], ...(place !== null && { place }), ...(stack !== null && { stack }) },
  }))
}

/** Bytes of one report. */
const reportMost = 16_000

/** Takes what pages report about themselves, such as errors of their scripts. Their toolbar sends it. */
export function browserRoutes(app: FastifyInstance, { archive, base, bounds, secrets, store }: PageSources): void {
  app.post<{ Params: { token: string } }>(
    `${base}/:token/browser`,
    { bodyLimit: reportMost },
    async function addReport(request, reply) {
      if (!isSameOrigin(request.raw)) return reply.code(403).send()
      const { token } = request.params
      const report = attempt((): unknown => JSON.parse(String(request.body)), null)
      const events = describeBrowserEvents(report, bounds, secrets)
      if (events.length === 0) return reply.code(400).send()
      if (!(await archive.knows(token))) return reply.code(404).send()
      let isTaken = false
      store.tryToWrite(() => {
        isTaken = addEvents(store.directory, token, events)
      })
      return reply.code(isTaken ? 204 : 429).send()
    },
  )
}
