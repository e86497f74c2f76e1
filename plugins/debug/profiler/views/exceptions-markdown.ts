import type { Exception, Excerpt } from '../profile.ts'
import { relationText } from './exceptions.ts'
import { foldedExceptions, tellingFrames } from './folded-exceptions.ts'
import { blocks, code, codeBlock, plain } from './markdown.ts'
import { stackTraceText } from './stack-trace.ts'
import { valueText } from './value.ts'

/** Every exception of the chain: what it says, the source that threw it, its stack. */
export function exceptionsMarkdown (exceptions: readonly Exception[], root: string): string {
  const folded = foldedExceptions(exceptions)
  return blocks(...exceptions.map((exception, index) => {
    const isFolded = folded[index] === true
    const [source] = isFolded ? [] : exception.frames.flatMap(frame => frame.kind === 'own' ? frame.excerpt ?? [] : [])
    const properties = Object.entries(exception.properties)
    return blocks(
      `### ${index + 1}. ${plain(exception.class)} (${relationText(exception)})`,
      codeBlock(exception.message === '' ? 'No message.' : exception.message),
      properties.map(([name, value]) => `- ${code(name)}: ${code(valueText(value))}`).join('\n'),
      source === undefined ? null : excerptMarkdown(source),
      codeBlock(stackTraceText(isFolded ? { ...exception, frames: tellingFrames(exception) } : exception, root))
    )
  }))
}

/** The lines around a frame's own, that one marked. */
function excerptMarkdown (excerpt: Excerpt): string {
  const width = String(excerpt.first + excerpt.lines.length).length
  return codeBlock(excerpt.lines.map((line, index) => {
    const number = excerpt.first + index
    return `${number === excerpt.line ? '>' : ' '} ${String(number).padStart(width)} | ${line}`
  }).join('\n'), 'ts')
}
