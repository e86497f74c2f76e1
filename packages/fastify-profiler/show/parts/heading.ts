import { html, Markup, type Content } from '../../base/html.ts'

export type HeadingLevel = 2 | 3 | 4

/** A heading of a given level. */
export function renderHeading(level: HeadingLevel, id: string, content: Content): Markup {
  const name = new Markup(`h${level}`)
  return html`<${name} id="${id}">${content}</${name}>`
}
