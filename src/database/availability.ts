import { EventEmitter } from 'node:events'

/** Tracks whether the database answers. */
export class Availability extends EventEmitter<{ lost: [cause: unknown]; found: [] }> {
  #loss: { cause: unknown } | null = null

  /** Whether the database answers, as far as the listener knows. */
  get reachable(): boolean {
    return this.#loss === null
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
