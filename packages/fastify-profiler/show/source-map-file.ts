import { readFileSync, type Stats } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, resolve } from 'node:path'

/** Only source files of a reasonable size are read. */
const sourceFile = /\.[cm]?[jt]sx?$/
const largestFile = 2_000_000

export function isSourceFile(file: string, { size }: Stats): boolean {
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
