import { readFileSync, type Stats, statSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, resolve } from 'node:path'
import { isRecord } from '../../core/foreign-value.ts'
import { originalIn } from '../../core/call-site.ts'
import type { Exception, Excerpt, Frame, Location, Profile } from '../../core/profile.ts'
import { queryOf } from '../performance/failed-calls.ts'
import { highlight } from '../../core/view/code-block.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { codeBlock } from '../../core/view/markdown.ts'
import { cut } from '../../core/view/units.ts'

/** Only source files of a reasonable size are read. */
const sourceFile = /\.[cm]?[jt]sx?$/
const largestFile = 2_000_000

function isSourceFile(file: string, { size }: Stats): boolean {
  return sourceFile.test(file) && size <= largestFile
}

/** The source map file beside a compiled file. */
export function readSourceMap(file: string, text: string): SourceMap | null {
  const name = /\n\/\/# sourceMappingURL=([^\s:]+\.map)\s*$/.exec(text)?.[1]
  if (name === undefined) return null
  const path = resolve(dirname(file), name)
  const payload: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (!isPayload(payload)) return null
  const sources = payload.sources.map(source => resolve(dirname(path), payload.sourceRoot || '.', source))
  return new SourceMap({ ...payload, sources })
}

function isPayload(value: unknown): value is ConstructorParameters<typeof SourceMap>[0] {
  return isRecord(value) && Array.isArray(value.sources) && typeof value.mappings === 'string'
}

// Saves 38 of 40 µs for a small file, 10 % of a 404 in JSON, whose exceptions name three files:
// `npm run -w bench profiler-mechanisms`.
const mostKept = 20

interface KnownMap {
  /** The state of the compiled file when its map was read. */
  changed: number
  size: number
  map: SourceMap | null
}

const known = new Map<string, KnownMap>()

/** The source map of a file, read again when the file has changed; null if it has none. */
export function knownSourceMap(file: string): SourceMap | null {
  try {
    const stats = statSync(file)
    const last = known.get(file)
    if (last !== undefined && last.changed === stats.mtimeMs && last.size === stats.size) return last.map
    const map = isSourceFile(file, stats) ? readSourceMap(file, readFileSync(file, 'utf8')) : null
    if (known.size >= mostKept) known.clear()
    known.set(file, { changed: stats.mtimeMs, size: stats.size, map })
    return map
  } catch {
    // Deleted since, or never a file.
    return null
  }
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

/** The original positions of frames, without the source around them. @param maps those of the files so far */
export function resolveFrames(frames: readonly Frame[], maps: Map<string, SourceMap | null>): Frame[] {
  return frames.map(frame => (frame.kind === 'node' ? frame : { ...frame, ...resolveLocation(frame, maps) }))
}

/** The original of a location. @param maps those of the files so far */
export function resolveLocation(location: Location, maps: Map<string, SourceMap | null>): Location {
  const known = maps.get(location.file)
  const map = known === undefined ? knownSourceMap(location.file) : known
  maps.set(location.file, map)
  return originalIn(map, location) ?? location
}

interface SourceText {
  lines: string[]
  map: SourceMap | null
}

/** The files that were read so far. */
export type SourceTexts = Map<string, SourceText | null>

function withExcerpts(exception: Exception, files: SourceTexts): Exception {
  let left = excerptsPerException
  const frames = exception.frames.map(frame => {
    if (frame.kind === 'node') return frame
    const original = originalFrame(frame, files)
    if (original.kind !== 'own' || left === 0) return original
    const excerpt = excerptOf(original, files)
    if (excerpt === null) return original
    left--
    return { ...original, excerpt }
  })
  return { ...exception, frames }
}

/** A frame of compiled code, mapped to its original source. */
function originalFrame(frame: Frame, files: SourceTexts): Frame {
  return { ...frame, ...originalIn(sourceOf(frame.file, files)?.map, frame) }
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

/** The text of a source file; null if it cannot be shown. @param files those of the files so far */
export function sourceOf(file: string, files: SourceTexts): SourceText | null {
  const known = files.get(file)
  if (known !== undefined) return known
  const source = readSource(file)
  files.set(file, source)
  return source
}

function readSource(file: string): SourceText | null {
  try {
    if (!isSourceFile(file, statSync(file))) return null
    const text = readFileSync(file, 'utf8')
    return { lines: text.split(/\r?\n/), map: readSourceMap(file, text) }
  } catch {
    // Deleted since, or never a file: the frame is shown without its source.
    return null
  }
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
export function excerptMarkdown({ first, line: marked, lines }: Excerpt): string {
  const width = String(first + lines.length).length
  const numbered = lines.map((line, index) => {
    const number = first + index
    return `${number === marked ? '>' : ' '} ${String(number).padStart(width)} | ${line}`
  })
  return codeBlock(numbered.join('\n'), 'ts')
}
