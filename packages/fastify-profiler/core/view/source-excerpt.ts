import { readFileSync, type Stats, statSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, resolve } from 'node:path'
import { originalIn, withoutHiddenFrames } from '../call-site.ts'
import type {
  Exception,
  Excerpt,
  Frame,
  FunctionUse,
  Json,
  Location,
  NotSampled,
  Profile,
  Samples,
} from '../profile.ts'
import { isErrorOf } from '../store/failed-calls.ts'

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
  return (
    typeof value === 'object' &&
    value !== null &&
    'sources' in value &&
    Array.isArray(value.sources) &&
    'mappings' in value &&
    typeof value.mappings === 'string'
  )
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

/**
 * Completes a profile for viewing: original positions, the source around them, and logged stacks without the
 * profiler's own frames.
 */
export function resolveSources(profile: Profile): Profile {
  const files = new Map<string, SourceText | null>()
  const exceptions = profile.exceptions.map(exception => withExcerpts(withSender(exception, profile), files))
  const logs = profile.logs.map(line => ({
    ...line,
    fields: Object.fromEntries(Object.entries(line.fields).map(([name, value]) => [name, cleared(value)])),
  }))
  const samples = profile.samples === undefined ? undefined : withLines(profile.samples, files)
  return { ...profile, exceptions, logs, ...(samples !== undefined && { samples }) }
}

/** An error of a query may have no frame of the application: then the line that sent the query stands for it. */
function withSender(exception: Exception, { database }: Profile): Exception {
  const { frames } = exception
  if (frames.some(({ kind }) => kind === 'own')) return exception
  const query = database?.queries.find(query => isErrorOf(query, exception))
  if (query === undefined || query.location === null) return exception
  return { ...exception, frames: [...frames, { ...query.location, function: 'sent the query', kind: 'own' }] }
}

function withLines(samples: Samples | NotSampled, files: Map<string, SourceText | null>): Samples | NotSampled {
  if ('why' in samples) return samples
  const complete = (use: FunctionUse) => withLine(use, files)
  return { ...samples, hot: samples.hot.map(complete), charged: samples.charged.map(complete) }
}

function withLine(use: FunctionUse, files: Map<string, SourceText | null>): FunctionUse {
  if (use.location === null || use.kind === 'node') return use
  const location = originalIn(sourceOf(use.location.file, files)?.map, use.location) ?? use.location
  const source = sourceOf(location.file, files)?.lines[location.line - 1]
  return { ...use, location, ...(source !== undefined && { source: source.trim() }) }
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

function cleared(value: Json): Json {
  if (typeof value === 'string') return withoutHiddenFrames(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cleared)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cleared(item)]))
}

interface SourceText {
  lines: string[]
  map: SourceMap | null
}

function withExcerpts(exception: Exception, files: Map<string, SourceText | null>): Exception {
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
function originalFrame(frame: Frame, files: Map<string, SourceText | null>): Frame {
  return { ...frame, ...originalIn(sourceOf(frame.file, files)?.map, frame) }
}

/** The source around a line; null if it cannot be read. */
export function excerptOf(
  { file, line }: Pick<Location, 'file' | 'line'>,
  files = new Map<string, SourceText | null>(),
  beside = around,
): Excerpt | null {
  const lines = sourceOf(file, files)?.lines
  if (lines === undefined || line > lines.length) return null
  const first = Math.max(1, line - beside)
  return { first, lines: lines.slice(first - 1, line + beside), line }
}

function sourceOf(file: string, files: Map<string, SourceText | null>): SourceText | null {
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
