import { STATUS_CODES } from 'node:http'
import type { Location, Outcome } from '../profile.ts'
import { type Content, html, type Markup } from './html.ts'
import { urlPart } from '../urls.ts'

/** The colour of a badge or toolbar item. */
export type Tone = 'neutral' | 'good' | 'warning' | 'error'

/** A short coloured label: a log level, a verdict, a count. */
export function renderBadge(content: Content, tone: Tone = 'neutral'): Markup {
  return html`<span class="badge ${tone}">${content}</span>`
}

/** One muted line that says why there is nothing to show. */
export function renderEmptyState(why: Content): Markup {
  return html`<p class="empty">${why}</p>`
}

/** A column's heading, and how its cells are laid out: numbers are aligned right and never wrap. */
export interface Column {
  label: string
  kind?: 'number' | 'text' | 'short'
  /** Drawn in the place of the label. */
  head?: Markup
  /** Whether a narrow screen leaves it out, in a table of lines. */
  isWide?: boolean
  /** page: left out of Markdown, since it is drawn. text: a page has a link instead. Default: both have it. */
  only?: 'page' | 'text'
}

/** A column of numbers, in a table of lines. */
export function figures(label: string, isWide = false): Column {
  return { label, kind: 'number', isWide }
}

const INLINE_LENGTH = 160
const MAX_LENGTH = 20_000

/** Characters shown of a log field. Shorter, since a logged error repeats what the exceptions show. */
export const LOGGED_LENGTH = 4000

/** A recorded value as bounded text: strings as they are, other values as JSON. */
export function valueText(value: unknown, indent = 0, limit = MAX_LENGTH): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, indent) ?? String(value))
  if (text.length <= limit) return text
  return `${text.slice(0, limit)}… (${(text.length - limit).toLocaleString('en')} more characters)`
}

/** A recorded value: short ones inline, long objects and arrays indented in a block. */
export function renderValue(value: unknown, limit = MAX_LENGTH): Markup {
  if (value === null || value === undefined) return html`<span class="muted">${String(value)}</span>`
  if (value === '') return html`<span class="muted">empty</span>`
  const text = valueText(value, 0, limit)
  if (typeof value !== 'object' || text.length <= INLINE_LENGTH) return html`<code>${text}</code>`
  return html`<pre tabindex="0"><code>${unfolded(valueText(value, 2, limit))}</code></pre>`
}

/** Turns escaped line breaks in JSON into real ones, so that a recorded stack is readable. */
function unfolded(json: string): string {
  return json.replace(/(?<!\\)((?:\\\\)*)\\n/g, '$1\n')
}

/** The name of a label with a capital first letter, for headings. */
export function titled(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

const warning = html`<svg class="severity warning" viewBox="0 0 14 14" role="img" aria-label="Warning"><path d="M7 .8 13.6 13H.4z"/><line x1="7" y1="5.2" x2="7" y2="8.6"/><line x1="7" y1="11" x2="7" y2="11"/></svg>`
const error = html`<svg class="severity error" viewBox="0 0 14 14" role="img" aria-label="Error"><circle cx="7" cy="7" r="6.6"/><line x1="7" y1="3.6" x2="7" y2="7.6"/><line x1="7" y1="10.2" x2="7" y2="10.2"/></svg>`
const note = html`<svg class="severity neutral" viewBox="0 0 14 14" role="img" aria-label="Note"><circle cx="7" cy="7" r="5.5"/></svg>`
const better = html`<svg class="severity good" viewBox="0 0 14 14" role="img" aria-label="Better"><path d="M5.5 1h3v6H13l-6 6.5L1 7h4.5z"/></svg>`
const worse = html`<svg class="severity error" viewBox="0 0 14 14" role="img" aria-label="Worse"><path d="M5.5 13h3V7H13L7 .5 1 7h4.5z"/></svg>`

const same = html`<b class="muted" aria-hidden="true">=</b>`

const severities = { good: note, neutral: note, warning, error, better, worse, same }

/** How bad something is, or what became of it. */
export type Severity = keyof typeof severities

/** The mark of a severity. Each has a shape of its own, so that nobody needs its colour. */
export function renderSeverity(severity: Severity): Markup {
  return severities[severity]
}

/** Space before what is below something else. */
export function renderIndent(depth: number, deepest = 6): Markup {
  return html`${Array.from({ length: Math.min(depth, deepest) }, () => html`<i class="indent"></i>`)}`
}

/** The tone of an HTTP status; null is a request without a response. */
export function statusTone(status: number | null): Tone {
  if (status === null) return 'warning'
  if (status >= 500) return 'error'
  if (status >= 400) return 'warning'
  if (status >= 300) return 'neutral'
  return 'good'
}

/** A status with its reason phrase: 404 Not Found. */
export function statusText(status: number | null): string {
  if (status === null) return 'No response'
  const phrase = STATUS_CODES[status]
  return phrase === undefined ? String(status) : `${status} ${phrase}`
}

const outcomes: Record<Outcome, string | null> = {
  completed: null,
  aborted: 'Client went away',
  broken: 'Response cut off by the server',
  hijacked: 'Answered outside Fastify',
  upgraded: 'Upgraded to another protocol',
  unfinished: 'Server shut down first',
}

/** An unusual outcome in a few words; null for a completed request. */
export function outcomeText(outcome: Outcome): string | null {
  return outcomes[outcome]
}

/** The tone of an outcome: an error if the server is at fault. */
export function outcomeTone(outcome: Outcome): Tone {
  if (outcome === 'upgraded') return 'neutral'
  return outcome === 'broken' ? 'error' : 'warning'
}

/** The tone of a pino level: from `warn` and from `error` on. */
export function levelTone(level: number): Tone {
  if (level >= 50) return 'error'
  if (level >= 40) return 'warning'
  return 'neutral'
}

/** Pino's named levels, lowest first. */
export const levelNames = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

/** The name of a pino level; a custom level has the name of the nearest one below. */
export function levelName(level: number): (typeof levelNames)[number] {
  return levelNames.findLast((_, index) => level >= (index + 1) * 10) ?? 'trace'
}

/** What a view has to know to show a location. */
export interface Place {
  /** A URL pattern for links to files: "vscode://file/{file}:{line}:{column}"; null for no links. */
  editorUrl: string | null
  /** The application's folder, which file names are shown relative to. Absolute, without a trailing slash. */
  root: string
}

/** For a page that names no lines of code. */
export const noPlace: Place = { root: '', editorUrl: null }

/** Where pnpm keeps a package: node_modules/.pnpm/pg@8.23.1/node_modules/pg. */
const pnpmFolder = /(?<=^node_modules\/|\/node_modules\/)\.pnpm\/[^/]+\/node_modules\//

/** The path of a file, relative to the application's folder if it is inside, and without the folders of pnpm. */
function shortFile(file: string, root: string): string {
  return (file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file).replace(pnpmFolder, '')
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
