import { readFileSync, statSync } from 'node:fs'
import type { SourceMap } from 'node:module'
import { originalIn, readSourceMap } from '../../core/call-site.ts'
import type { Exception, Frame, Location, Profile } from '../../core/profile.ts'
import { queryOf } from '../performance/failed-calls.ts'
import { highlight } from '../../core/view/code-block.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { codeBlock } from '../../core/view/markdown.ts'
import { cut } from '../../core/view/units.ts'

declare module '../../core/profile.ts' {
  interface Frame {
    /** Read from disk when viewed, never stored. */
    excerpt?: Excerpt
  }
}

export interface Excerpt {
  /** The number of the first line in `lines`. */
  first: number
  lines: string[]
  /** The line the frame points to. */
  line: number
}

/** Only source files of a reasonable size are read. */
const sourceFile = /\.[cm]?[jt]sx?$/
const largestFile = 2_000_000

interface SourceText {
  lines: string[]
  map: SourceMap | null
}

/** The files that were read so far. */
export type SourceTexts = Map<string, SourceText | null>

// Sources are kept, because exceptions of one application name the same few files.
const mostKept = 20
const kept = new Map<string, { state: string; source: SourceText }>()

/** A source file as it is now; null if it cannot be shown. */
function keptSource(file: string): SourceText | null {
  try {
    const { mtimeMs, size } = statSync(file)
    const state = `${mtimeMs} ${size}`
    const last = kept.get(file)
    if (last?.state === state) return last.source
    if (!sourceFile.test(file) || size > largestFile) return null
    const source = readSource(file)
    if (kept.size >= mostKept) kept.clear()
    kept.set(file, { state, source })
    return source
  } catch {
    // Deleted since, or never a file: the frame is shown without its source.
    return null
  }
}

function readSource(file: string): SourceText {
  const text = readFileSync(file, 'utf8')
  return { lines: text.split(/\r?\n/), map: readSourceMap(file, text) }
}

/** A source file as it was when it was first asked for. @param files those of the files so far */
export function sourceOf(file: string, files: SourceTexts): SourceText | null {
  const known = files.get(file)
  const source = known === undefined ? keptSource(file) : known
  files.set(file, source)
  return source
}

/** Lines shown before and after a frame's line. */
const around = 5

/** Frames of one exception that are shown with their source. */
const excerptsPerException = 12

/** Completes the exceptions of a profile for viewing: original positions, and the source around them. */
export function readSources(profile: Profile): Pick<Profile, 'exceptions'> {
  const files: SourceTexts = new Map()
  return { exceptions: profile.exceptions.map(exception => withExcerpts(withSender(exception, profile), files)) }
}

/** An error of a query may have no frame of the application: then the line that sent the query stands for it. */
function withSender(exception: Exception, { database }: Profile): Exception {
  const { frames } = exception
  if (frames.some(({ kind }) => kind === 'own')) return exception
  const query = queryOf(exception, database)
  if (query === undefined || query.location === null) return exception
  return { ...exception, frames: [...frames, { ...query.location, function: 'sent the query', kind: 'own' }] }
}

/** The original positions of frames, without the source around them. @param files those of the files so far */
export function resolveFrames(frames: readonly Frame[], files: SourceTexts): Frame[] {
  return frames.map(frame => (frame.kind === 'node' ? frame : { ...frame, ...resolveLocation(frame, files) }))
}

/**
 * The original of a place in a stack, by the map beside its file. A map that Node knows has been applied to the stack.
 * @param files those of the files so far
 */
export function resolveLocation(location: Location, files: SourceTexts = new Map()): Location {
  return originalIn(sourceOf(location.file, files)?.map, location) ?? location
}

function withExcerpts(exception: Exception, files: SourceTexts): Exception {
  let left = excerptsPerException
  const frames = resolveFrames(exception.frames, files).map(frame => {
    const excerpt = frame.kind !== 'own' || left === 0 ? null : excerptOf(frame, files)
    if (excerpt === null) return frame
    left--
    return { ...frame, excerpt }
  })
  return { ...exception, frames }
}

/** The source around a line; null if it cannot be read. */
export function excerptOf(
  { file, line }: Pick<Location, 'file' | 'line'>,
  files: SourceTexts = new Map(),
  beside = around,
): Excerpt | null {
  const lines = sourceOf(file, files)?.lines
  if (lines === undefined || line > lines.length) return null
  const first = Math.max(1, line - beside)
  return { first, lines: lines.slice(first - 1, line + beside), line }
}

const typescript = new RegExp(
  [
    /\/\*[\s\S]*?(?:\*\/|$)/, // a block comment, closed or not
    /\/\/[^\n]*/,
    /(?<=^|\n)\s*\*(?: [^\n]*|\/|(?=\n|$))/, // a line of a block comment that began above
    /'(?:\\.|[^'\\\n])*'?/,
    /"(?:\\.|[^"\\\n])*"?/,
    /`(?:\\[\s\S]|[^`\\])*`?/,
    /[A-Za-z_$][\w$]*/,
  ]
    .map(part => part.source)
    .join('|'),
  'g',
)

const typescriptKeywords = new Set(
  (
    'abstract as async await break case catch class const continue debugger default delete do ' +
    'else enum export extends false finally for from function get if implements import in instanceof interface is keyof let new null ' +
    'of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined ' +
    'var void while with yield'
  ).split(' '),
)

function classifyTypescript(token: string): string | null {
  if (/^\s*[/*]/.test(token)) return 'comment'
  if (/^['"`]/.test(token)) return 'string'
  return typescriptKeywords.has(token) ? 'keyword' : null
}

const longestLine = 400

/** Numbered lines of TypeScript, with the relevant line marked. */
export function renderExcerpt(excerpt: Excerpt): Markup {
  const text = excerpt.lines.map(line => cut(line, longestLine)).join('\n')
  const lines = highlight(text, typescript, classifyTypescript)
  return html`<pre class="source" tabindex="0"><code>${lines.map((line, index) => {
    const number = excerpt.first + index
    return number === excerpt.line
      ? html`<mark class="line error" data-line="${number}">${line}\n</mark>`
      : html`<span class="line" data-line="${number}">${line}\n</span>`
  })}</code></pre>`
}

/** The source around a frame as Markdown, with the frame's line marked. */
export function excerptMarkdown({ first, line: marked, lines }: Excerpt, place: string): string {
  const width = String(first + lines.length).length
  const numbered = lines.map((line, index) => {
    const number = first + index
    return `${number === marked ? '>' : ' '} ${String(number).padStart(width)} | ${line}`
  })
  return codeBlock(numbered.join('\n'), /\.[cm]?tsx?(?::|$)/.test(place) ? 'ts' : 'js')
}
