import { isTerminal } from './is-terminal.ts'

const width = 30
/** In milliseconds. */
const interval = 100

/** A progress bar on a terminal. It writes nothing if the output is not a terminal. */
export class ProgressBar {
  readonly #output: NodeJS.WritableStream
  readonly #isShown: boolean
  readonly #begun = performance.now()
  #shownAt = -Infinity

  constructor(output: NodeJS.WritableStream) {
    this.#output = output
    this.#isShown = isTerminal(output)
  }

  /**
   * @param part the progress from 0 to 1, or undefined if unknown
   * @param count the number of items done
   * @param what the items in words, such as "licenses"
   */
  show(part: number | undefined, count: number, what: string): void {
    const now = performance.now()
    if (!this.#isShown || now - this.#shownAt < interval) return
    this.#shownAt = now
    const filled = Math.round(width * (part ?? 0))
    const bar =
      part === undefined
        ? ''
        : `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${String(Math.round(part * 100)).padStart(3)} %  `
    const rate = Math.round((count / (now - this.#begun)) * 1000)
    this.#output.write(`\r\u001b[K${bar}${count.toLocaleString('en')} ${what}, ${rate.toLocaleString('en')} a second`)
  }

  clear(): void {
    if (this.#isShown) this.#output.write('\r\u001b[K')
  }
}
