import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { Database } from '../database/database.ts'
import { reasonOf } from '../errors/start-error.ts'

/** Where a command reads and writes. */
export interface Terminal {
  input: NodeJS.ReadStream | NodeJS.ReadableStream
  output: NodeJS.WritableStream
  /** What is no result: questions and errors. */
  errors: NodeJS.WritableStream
  /** Opens the database that the configuration names; it is closed when the command is over. */
  openDatabase: () => Promise<Database>
}

export interface Command {
  /** "user add <email> [--admin]": what is typed. The words before the first sign are its name. */
  usage: string
  /** One line. */
  summary: string
  /** What there is to say besides. */
  details: string
  /** @param words what follows its name */
  run: (words: string[], terminal: Terminal) => Promise<void>
}

/** What was typed is no command, or not all of one: the message says how it differs. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A mistake that is not one of typing, shown as one line. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** Reads a command's words: exactly these operands, and options as parseArgs takes them. @throws {UsageError} */
export function readWords<const Options extends NonNullable<ParseArgsConfig['options']>>(
  words: string[],
  operands: readonly string[],
  options: Options,
) {
  const { values, positionals } = parse()
  const missing = operands[positionals.length]
  if (missing !== undefined) throw new UsageError(`<${missing}> is missing.`)
  const [surplus] = positionals.slice(operands.length)
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one word too many.`)
  return { values, operands: positionals }

  function parse() {
    try {
      return parseArgs({ args: words, options, allowPositionals: true })
    } catch (error) {
      // What parseArgs says besides is about words that begin with a dash and are none of an option.
      throw new UsageError(`${reasonOf(error).replace(/\. To specify a positional .*|\.$/, '')}.`, { cause: error })
    }
  }
}
