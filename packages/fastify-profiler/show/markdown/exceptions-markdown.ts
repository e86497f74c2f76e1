import type { Exception, Excerpt } from '../../base/profile.ts'
import { foldedExceptions, tellingFrames } from '../parts/folded-exceptions.ts'
import { blocks, code, codeBlock, plain } from './markdown.ts'
import { locationText } from '../parts/location.ts'
import { stackTraceText } from '../parts/stack-trace.ts'
import { valueText } from '../parts/value.ts'

/** Every exception of the chain with its message, its properties and the source line that threw it. */
export function exceptionsMarkdown(exceptions: readonly Exception[], heading: string, root: string): string {
  const folded = foldedExceptions(exceptions)
  return blocks(
    ...exceptions.map((exception, index) => {
      const source = folded[index] === true ? undefined : exception.frames.find(({ kind }) => kind === 'own')
      const properties = Object.entries(exception.properties)
      return blocks(
        `${heading} ${index + 1}. ${plain(exception.class)} (${exception.relation})`,
        codeBlock(exception.message === '' ? 'No message.' : exception.message),
        properties.map(([name, value]) => `- ${code(name)}: ${code(valueText(value))}`).join('\n'),
        source === undefined ? null : code(locationText(source, root)),
        source?.excerpt === undefined ? null : excerptMarkdown(source.excerpt),
      )
    }),
  )
}

/** The stack trace of every exception; of a folded one only the application's frames. */
export function stackTracesMarkdown(exceptions: readonly Exception[], root: string): string {
  const folded = foldedExceptions(exceptions)
  return blocks(
    ...exceptions.map((exception, index) => {
      const shown = folded[index] === true ? { ...exception, frames: tellingFrames(exception) } : exception
      return codeBlock(stackTraceText(shown, root))
    }),
  )
}

/** The source around a frame, with the frame's line marked. */
function excerptMarkdown(excerpt: Excerpt): string {
  const width = String(excerpt.first + excerpt.lines.length).length
  return codeBlock(
    excerpt.lines
      .map((line, index) => {
        const number = excerpt.first + index
        return `${number === excerpt.line ? '>' : ' '} ${String(number).padStart(width)} | ${line}`
      })
      .join('\n'),
    'ts',
  )
}
