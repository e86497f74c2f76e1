import { EventEmitter } from 'node:events'
import type { Changes } from './changes.ts'

interface AvailabilityEvents {
  /** The database stopped answering. */
  lost: [cause: unknown]
  /** The database answers again. */
  found: []
}

/** Tracks whether the database answers and whether its change notifications arrive. */
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

  /** Whether the database answers, as far as the listener knows. */
  get reachable(): boolean {
    return this.#loss === null
  }

  /** Whether change notifications arrive. */
  get listening(): boolean {
    return this.#isListening
  }

  /** Why the database cannot be reached, or null if it can. */
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
