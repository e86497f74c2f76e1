import type { Boundary } from './base/boundary.ts'
import type { Boot } from './base/boot.ts'
import { tell } from './base/tell.ts'
import { describeBoot, type BootParts } from './collect/describe-boot.ts'
import { stuckSentence } from './show/parts/boot-sentence.ts'
import type { ProfileStore } from './store/profile-store.ts'
import { ApplicationStart } from './watch/application-start.ts'
import type { RecorderParts } from './watch/recorder.ts'

export interface BootLogParts extends BootParts {
  recorded: RecorderParts
  store: ProfileStore
  boundary: Boundary
  /** The application's folder. */
  root: string
  /** Milliseconds after which Fastify gives a plugin up; 0 for never. */
  pluginTimeout: number
}

/** A plugin that takes longer is named, if Fastify does not give it up before. */
const longest = 5000

/** Keeps the start of an application in the store, and tells of a plugin that hangs. */
export class BootLog {
  readonly start: ApplicationStart
  readonly #parts: BootLogParts
  #isOver = false

  constructor(parts: BootLogParts) {
    const { pluginTimeout, recorded } = parts
    const patience = pluginTimeout > 0 ? Math.min(longest, pluginTimeout / 2) : longest
    this.#parts = parts
    this.start = new ApplicationStart({ recorded, patience, changed: () => this.#keepUnlessOver() })
  }

  /** The newest start of the applications that share the store. */
  get newest(): Boot | null {
    this.#keepUnlessOver()
    return this.#parts.store.findBoot()
  }

  /** The application ends. A start that is not over is given up. */
  stop(): void {
    if (!this.#isOver && this.start.steps.length > 0) this.#keep(true)
    this.#isOver = true
    this.start.stop()
  }

  #keepUnlessOver(): void {
    if (!this.#isOver) this.#keep(false)
  }

  #keep(isGivenUp: boolean): void {
    const { boundary, root, store } = this.#parts
    boundary.guard(() => {
      const boot = describeBoot(this.start, isGivenUp, this.#parts)
      store.writeBoot(boot)
      if (boot.state === 'stuck') tell(stuckSentence(boot, root))
      if (boot.state !== 'ready') return
      this.#isOver = true
      this.start.stop()
    }, undefined)
  }
}
