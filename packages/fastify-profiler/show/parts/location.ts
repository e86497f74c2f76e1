import { html, type Markup } from '../../base/html.ts'
import type { ViewContext } from '../../collect/panel.ts'
import type { Location } from '../../base/profile.ts'
import { urlPart } from './profile-url.ts'

/** What a view has to know to show a location. */
export type Place = Pick<ViewContext, 'root' | 'editorUrl'>

/** The path of a file, relative to the application's folder if it is inside. */
function shortFile(file: string, root: string): string {
  return file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file
}

/** A location as text: src/routes/version.ts:12. */
export function lineText({ file, line }: Location, root: string): string {
  return `${shortFile(file, root)}:${line}`
}

/** A location as text with its column: src/routes/version.ts:12:5. */
export function locationText(location: Location, root: string): string {
  return `${lineText(location, root)}:${location.column}`
}

/** A location as markup, with a link to the editor if one is configured. */
export function renderLocation(location: Location | null, { root, editorUrl }: Place): Markup {
  if (location === null) return html`<span class="muted">unknown</span>`
  const file = shortFile(location.file, root)
  const folder = file.slice(0, file.lastIndexOf('/') + 1)
  const text = html`<span class="folder">${folder}</span>${file.slice(folder.length)}:${location.line}`
  const url = editorLink(location, editorUrl)
  if (url === null) return html`<code class="place">${text}</code>`
  return html`<a class="place" href="${url}" title="Open in editor"><code>${text}</code></a>`
}

function editorLink({ file, line, column }: Location, template: string | null): string | null {
  if (template === null || file.startsWith('node:')) return null
  const values = { file: file.split('/').map(urlPart).join('/'), line, column }
  return template.replace(/\{(file|line|column)\}/g, (_, name: keyof typeof values) => String(values[name]))
}
