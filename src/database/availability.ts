import { EventEmitter } from 'node:events'
import type { Changes } from './changes.ts'

interface AvailabilityEvents {
  /** The database does not answer: why, as far as is known. */
  lost: [cause: unknown]
  /** It answers again. */
  found: []
}

/** Whether the database can be asked, and its changes are heard. */
export class Availability extends EventEmitter<AvailabilityEvents> {
  #loss: { cause: unknown } | null = null
  #isListening = false

  constructor(changes: Changes) {
    super()
    changes
      .on('listening', () => {
        this.#isListening = true
      })
      .on('deaf', () => {
        this.#isListening = false
      })
  }

  /** Whether the database answers, as far as is known. */
  get reachable(): boolean {
    return this.#loss === null
  }

  /** Whether each change of its rows is heard. */
  get listening(): boolean {
    return this.#isListening
  }

  /** Why it cannot be reached; null: it can. */
  get loss(): { readonly cause: unknown } | null {
    return this.#loss
  }

  lose(cause: unknown): void {
    const wasReachable = this.reachable
    this.#loss = { cause }
    if (wasReachable) this.emit('lost', cause)
  }

  find(): void {
    if (this.reachable) return
    this.#loss = null
    this.emit('found')
  }
}
