// Saves 1.2 µs for a statement of 40 characters, 3 to 15 % of a profiled request:
// `npm run -w bench profiler-mechanisms`.

const mostKept = 2000
const longestKept = 200

/** Remembers texts without secrets, since most texts of a request occur in earlier ones too. */
export class HarmlessTexts {
  readonly #texts = new Set<string>()

  has(text: string): boolean {
    return this.#texts.has(text)
  }

  add(text: string): void {
    if (text.length > longestKept) return
    if (this.#texts.size >= mostKept) this.#texts.clear()
    this.#texts.add(text)
  }
}
