import { readFileSync, rmSync, statSync } from 'node:fs'
import type { BrowserEvent } from '../base/browser-event.ts'
import { attempt, isObject } from '../base/foreign-value.ts'
import type { StoreDirectory } from './store-directory.ts'

/** Profiles with events. The oldest file is deleted for a new one. */
const filesKept = 100

/** Bytes and events of one profile. */
const bytesKept = 64 * 1024
const eventsKept = 50

const fileName = /^browser-[\w%-]+\.json$/

/** Keeps what pages report about themselves, one file per profile, since stored profiles are never changed. */
export class BrowserEvents {
  readonly #directory: StoreDirectory

  constructor(directory: StoreDirectory) {
    this.#directory = directory
  }

  /** Adds the events to a profile's. Throws errors of the file system. @returns false if the profile has too many */
  add(token: string, events: readonly BrowserEvent[]): boolean {
    const all = [...this.find(token), ...events]
    const text = JSON.stringify(all)
    if (all.length > eventsKept || Buffer.byteLength(text) > bytesKept) return false
    this.#directory.replace(nameOf(token), text)
    this.#prune()
    return true
  }

  /** The events of a profile; none if they have been deleted or cannot be read. */
  find(token: string): BrowserEvent[] {
    return attempt(() => {
      const events: unknown = JSON.parse(readFileSync(this.#directory.pathOf(nameOf(token)), 'utf8'))
      return Array.isArray(events) ? events.filter(isEvent) : []
    }, [])
  }

  #prune(): void {
    const paths = this.#directory.filesNamed(fileName).map(name => this.#directory.pathOf(name))
    if (paths.length <= filesKept) return
    // Another process may delete one meanwhile.
    const ageOf = (path: string) => attempt(() => statSync(path).mtimeMs, 0)
    const byAge = paths.map(path => ({ path, time: ageOf(path) })).sort((one, other) => one.time - other.time)
    for (const { path } of byAge.slice(0, -filesKept)) rmSync(path, { force: true })
  }
}

function nameOf(token: string): string {
  return `browser-${encodeURIComponent(token)}.json`
}

function isEvent(value: unknown): value is BrowserEvent {
  return isObject(value) && 'kind' in value && 'message' in value && typeof value.message === 'string'
}
