import { writeSync } from 'node:fs'

const standardError = 2

/**
 * Says that a test file has ended. tap shows a process only once it has ended, and one runs many files.
 * @param milliseconds how long the file took
 */
export function tellOfFile(name: string, milliseconds: number, isPassing: boolean): void {
  const file = name.replace(/^dist\/|\/dist(?=\/)/, '').replace(/\.js$/, '.ts')
  writeSync(standardError, `${isPassing ? 'ok    ' : 'FAILED'} ${file} ${(milliseconds / 1000).toFixed(1)} s\n`)
}
