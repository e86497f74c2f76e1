import { visible } from './visible.ts'

/** What a template may hold: text is escaped, markup is not, null, undefined and false print nothing. */
export type Content = string | number | Markup | null | undefined | false | readonly Content[]

/** Text that is markup already. A class, not a shape: stored data that looks like it is escaped like any other. */
export class Markup {
  readonly #text: string

  constructor (text: string) {
    this.#text = text
  }

  toString (): string {
    return this.#text
  }
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;'
}

/** Escapes text for an element's content and for a quoted attribute alike, and shows what is invisible in it. */
export function escape (text: string): string {
  return visible(text).replace(/[&<>"'`]/g, character => String(entities[character]))
}

function print (content: Content): string {
  if (typeof content === 'string') return escape(content)
  if (typeof content === 'number') return String(content)
  if (content === null || content === undefined || content === false) return ''
  if (content instanceof Markup) return content.toString()
  let text = ''
  for (const part of content) text += print(part)
  return text
}

/** The tag of every view: html`<p>${anything}</p>` escapes what is not markup. */
export function html (pieces: TemplateStringsArray, ...values: readonly Content[]): Markup {
  let text = ''
  pieces.forEach((piece, index) => {
    text += piece + print(values[index])
  })
  return new Markup(text)
}
