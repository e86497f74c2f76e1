/** Counts the work that a profile has to wait for. */
export class Work {
  #underWay = 0
  #whenIdle: (() => void) | null = null

  get isUnderWay(): boolean {
    return this.#underWay > 0
  }

  begin(): void {
    this.#underWay++
  }

  end(): void {
    this.#underWay--
    if (this.#underWay > 0 || this.#whenIdle === null) return
    const callback = this.#whenIdle
    this.#whenIdle = null
    callback()
  }

  /** Calls back once, when all work has ended. Must be called only while some is under way. */
  whenIdle(callback: () => void): void {
    this.#whenIdle = callback
  }
}
