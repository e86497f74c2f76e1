import { readFileSync, statSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, resolve } from 'node:path'
import type { Excerpt, Exception, Frame, Json, Profile } from '../base/profile.ts'
import { withoutHiddenFrames } from '../base/hidden-frames.ts'

/** Lines shown before and after a frame's line. */
const around = 5

/** Frames of one exception that are shown with their source. */
const excerptsPerException = 12

/** Only source files of a reasonable size are read. */
const sourceFile = /\.[cm]?[jt]sx?$/
const largestFile = 2_000_000

/**
 * Completes a profile for viewing: original positions, the source around them, and logged stacks without the
 * profiler's own frames.
 */
export function resolveSources(profile: Profile): Profile {
  const files = new Map<string, SourceText | null>()
  const exceptions = profile.exceptions.map(exception => withExcerpts(exception, files))
  const logs = profile.logs.map(line => ({
    ...line,
    fields: Object.fromEntries(Object.entries(line.fields).map(([name, value]) => [name, cleared(value)])),
  }))
  return { ...profile, exceptions, logs }
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
  const map = sourceOf(frame.file, files)?.map ?? null
  const entry = map?.findEntry(frame.line - 1, frame.column - 1)
  if (entry === undefined || !('originalSource' in entry)) return frame
  return { ...frame, file: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn + 1 }
}

function excerptOf(frame: Frame, files: Map<string, SourceText | null>): Excerpt | null {
  const lines = sourceOf(frame.file, files)?.lines
  if (lines === undefined || frame.line > lines.length) return null
  const first = Math.max(1, frame.line - around)
  return { first, lines: lines.slice(first - 1, frame.line + around), line: frame.line }
}

function sourceOf(file: string, files: Map<string, SourceText | null>): SourceText | null {
  const known = files.get(file)
  if (known !== undefined) return known
  const source = readSource(file)
  files.set(file, source)
  return source
}

function readSource(file: string): SourceText | null {
  if (!sourceFile.test(file)) return null
  try {
    if (statSync(file).size > largestFile) return null
    const text = readFileSync(file, 'utf8')
    return { lines: text.split(/\r?\n/), map: readSourceMap(file, text) }
  } catch {
    // Deleted since, or never a file: the frame is shown without its source.
    return null
  }
}

/** The source map file beside a compiled file. */
function readSourceMap(file: string, text: string): SourceMap | null {
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
