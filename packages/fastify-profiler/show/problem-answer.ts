import type { SourceMap } from 'node:module'
import type { Exception, Json } from '../base/profile.ts'
import { resolveFrames } from './source-excerpt.ts'

/** Adds exceptions to a body of type application/problem+json; null if it is no JSON object. */
export function withExceptions(
  body: Buffer,
  exceptions: readonly Exception[],
  token: string,
  link: string,
): Buffer | null {
  try {
    const problem: unknown = JSON.parse(body.toString())
    if (typeof problem !== 'object' || problem === null || Array.isArray(problem)) return null
    return Buffer.from(JSON.stringify({ ...problem, token, link, exceptions: exceptionsForPrograms(exceptions) }))
  } catch {
    return null
  }
}

/** The exception chain for programs: no source, one line per frame. */
function exceptionsForPrograms(exceptions: readonly Exception[]): Json {
  const maps = new Map<string, SourceMap | null>()
  return exceptions.map(({ class: name, message, code, relation, frames }) => ({
    class: name,
    message,
    code,
    relation,
    trace: resolveFrames(frames, maps).map(
      frame => `${frame.function ?? 'anonymous'} (${frame.file}:${frame.line}:${frame.column})`,
    ),
  }))
}
