import { appendFileSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { inspect } from 'node:util'

/** What a process of the suite sends when it begins or ends a file. */
export type Message = { begins: string } | { ends: string; milliseconds: number; isPassing: boolean }

const standardError = 2
const isTerminal = isatty(standardError)
const clearedLine = '\r\x1b[K'
const running = new Set<string>()

/** Writes a line for each file that ends. On a terminal, the last line names the files that are running. */
export function showMessage(message: Message): void {
  if ('begins' in message) running.add(sourceOf(message.begins))
  if ('ends' in message) {
    const file = sourceOf(message.ends)
    running.delete(file)
    write(`${message.isPassing ? 'ok    ' : 'FAILED'} ${file} ${(message.milliseconds / 1000).toFixed(1)} s`)
  }
  showRunning()
}

/** Keeps what failed, because run.ts repeats it below the table of coverage. */
export const failuresFile = '.tap/failures.txt'

/** Writes what failed as soon as it has. */
export function showFailure({
  fullname,
  diag,
}: {
  fullname: string
  diag: { diff?: string; at?: unknown } | null
}): void {
  const { diff, ...others } = diag ?? {}
  const failure = `\n${fullname}\n${diff ?? ''}${inspect(others, { depth: 3, breakLength: 120 })}\n`
  appendFileSync(failuresFile, failure)
  write(failure)
  showRunning()
}

export function showTotals({ pass, fail, skip }: { pass: number; fail: number; skip: number }): void {
  write(`${pass} passed, ${fail} failed, ${skip} skipped`)
}

function showRunning(): void {
  if (isTerminal) writeSync(standardError, clearedLine + [...running].join(', '))
}

function write(text: string): void {
  writeSync(standardError, `${isTerminal ? clearedLine : ''}${text}\n`)
}

/** dist/test/a.test.js is built from test/a.test.ts. */
function sourceOf(file: string): string {
  return file.replace(/^dist\/|\/dist(?=\/)/, '').replace(/\.js$/, '.ts')
}
