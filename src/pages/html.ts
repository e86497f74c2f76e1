/** HTML markup, which the template does not escape again. */
export class Markup {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

export type Content = Markup | string | number | null | undefined | false | readonly Content[]

/** A template tag that escapes all values except Markup. False, null and undefined render as nothing. */
export function html(strings: TemplateStringsArray, ...contents: Content[]): Markup {
  return new Markup(strings.reduce((markup, string, index) => markup + render(contents[index - 1]) + string))
}

function render(content: Content): string {
  if (content instanceof Markup) return content.toString()
  if (content === null || content === undefined || content === false) return ''
  if (typeof content === 'string' || typeof content === 'number') return escapeText(String(content))
  return content.map(render).join('')
}

export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
