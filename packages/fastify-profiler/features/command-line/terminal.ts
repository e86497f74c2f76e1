import type { Readable, Writable } from 'node:stream'
import { styleText } from 'node:util'
import type { Terminal } from '../../core/feature.ts'
import { invisibleCharacters } from '../../core/foreign-value.ts'

/** A value as JSON that controls no terminal, since characters that nobody sees are escaped: `\u009b`. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value ?? null).replace(invisibleCharacters, characters =>
    characters.split('').map(escaped).join(''),
  )
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The streams of a process. Only those of a terminal have isTTY, columns and hasColors. */
interface Streams {
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & { isTTY?: boolean; columns?: number; hasColors?: () => boolean }
  stderr: Writable
  env: Terminal['env']
  cwd: () => string
}

export function terminalOf({ stdin, stdout, stderr, env, cwd }: Streams): Terminal {
  return {
    input: stdin,
    output: stdout,
    errors: stderr,
    env,
    folder: cwd(),
    isInteractive: stdin.isTTY === true && stdout.isTTY === true,
    isScreen: stdout.isTTY === true,
    // Knows NO_COLOR and what the terminal can do.
    hasColors: stdout.hasColors?.() ?? false,
    columns: stdout.columns ?? Infinity,
    // Signals end the process.
    ended: new AbortController().signal,
  }
}

export type Color = 'red' | 'yellow' | 'green' | 'gray'

export function colored({ hasColors }: Pick<Terminal, 'hasColors'>, color: Color, text: string): string {
  // The text must not depend on the process's own output.
  return hasColors ? styleText(color, text, { validateStream: false }) : text
}
