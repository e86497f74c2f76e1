import type { SearchForm } from './search-forms.ts'

/** How many characters and names a message about invalid input quotes. */
const quoted = 60
const namesListed = 5

/** The parameters of one search, read by their forms. */
export class SearchParameters {
  readonly #query: URLSearchParams
  readonly #known = new Set<string>()
  readonly #problems: string[] = []

  constructor(query: URLSearchParams) {
    this.#query = query
  }

  /** @returns null if it is missing or invalid */
  take<Value>(name: string, { takes, read }: SearchForm<Value>): Value | null {
    this.#known.add(name)
    const values = this.#query.getAll(name).map(value => value.trim())
    const [text = '', ...others] = values.filter(value => value !== '')
    if (others.length > 0) this.#problems.push(`${name} is given ${others.length + 1} times. The first one counts.`)
    if (text === '') return null
    const value = read(text)
    if (value === null) this.#problems.push(`${name} takes ${takes}, not ${quote(text)}.`)
    return value
  }

  /** @returns those that are neither missing nor invalid */
  takeAll<Value>(forms: Readonly<Record<string, SearchForm<Value>>>): Record<string, Value> {
    const taken: Array<[name: string, value: Value]> = []
    for (const [name, form] of Object.entries(forms)) {
      const value = this.take(name, form)
      if (value !== null) taken.push([name, value])
    }
    return Object.fromEntries(taken)
  }

  /** Sentences about the parameters that were invalid or that nobody took. */
  problems(): string[] {
    const unknown = [...new Set(this.#query.keys())].filter(name => !this.#known.has(name))
    if (unknown.length === 0) return this.#problems
    return [...this.#problems, `A search has no ${listOf(unknown)}: it has ${[...this.#known].join(', ')}.`]
  }
}

function listOf(names: readonly string[]): string {
  const listed = names.slice(0, namesListed).map(quote).join(', ')
  return names.length > namesListed ? `${listed} or ${names.length - namesListed} more` : listed
}

function quote(text: string): string {
  return `"${text.length > quoted ? `${text.slice(0, quoted)}…` : text}"`
}
