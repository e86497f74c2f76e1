import { visible } from '../foreign-value.ts'

/** A value in a template. Text is escaped, markup is not; null, undefined and false print nothing. */
export type Content = string | number | Markup | null | undefined | false | readonly Content[]

/** Text that is not escaped again. A class, so that no stored data can pass for markup. */
export class Markup {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

// Tested first, since most text has nothing to escape.
// eslint-disable-next-line no-control-regex -- control characters are escaped
const special = /[&<>"'`\0-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]/

/** Escapes text for elements and quoted attributes, and makes invisible characters visible. */
export function escape(text: string): string {
  return special.test(text) ? escapeSpecial(text) : text
}

// Six passes without a callback are faster than one pass with a callback.
function escapeSpecial(text: string): string {
  return visible(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replaceAll('`', '&#96;')
}

function print(content: Content): string {
  if (typeof content === 'string') return escape(content)
  if (typeof content === 'number') return String(content)
  if (content === null || content === undefined || content === false) return ''
  if (content instanceof Markup) return content.toString()
  let text = ''
  for (const part of content) text += print(part)
  return text
}

/** The template tag of all views: html`<p>${text}</p>` escapes every value that is not markup. */
export function html(pieces: TemplateStringsArray, ...values: readonly Content[]): Markup {
  let text = ''
  pieces.forEach((piece, index) => {
    text += piece + print(values[index])
  })
  return new Markup(text)
}
