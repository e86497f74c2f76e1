import { reasonOf } from '../src/errors/start-error.ts'
import type { Terminal } from './command.ts'

/** Ends the process if its output cannot be written. A closed pipe, as in "| head", is not an error. */
export function endWithOutput(
  { output, errors }: Pick<Terminal, 'output' | 'errors'>,
  exit: (code: number) => void,
): void {
  output.on('error', (error: NodeJS.ErrnoException) => {
    const isCut = error.code === 'EPIPE'
    if (!isCut) errors.write(`portico: The output cannot be written: ${reasonOf(error)}.\n`)
    exit(isCut ? 0 : 1)
  })
}
