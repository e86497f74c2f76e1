import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { Additions } from '../app.ts'
import type { Database, DatabaseOptions } from '../src/database/database.ts'
import { reasonOf } from '../src/errors/start-error.ts'
import { nearest } from './nearest.ts'

/** The streams, the user and the database of a command. */
export interface Terminal {
  input: NodeJS.ReadStream | NodeJS.ReadableStream
  output: NodeJS.WritableStream
  /** For prompts, progress and errors. */
  errors: NodeJS.WritableStream
  /** The operating system's name of who runs the command, if it is known. */
  systemUser?: string | undefined
  /** Opens the configured database. The caller closes it. */
  openDatabase: (options?: Pick<DatabaseOptions, 'onCreation'>) => Promise<Database>
  /** The port of the server on this machine, for links. Default: 3000. */
  port?: () => number
  /** What an application that is built on Portico adds. Default: nothing. */
  additions?: Additions
}

export interface Command {
  /** The synopsis: "user add <email> [--admin]". The words before the first "<", "[" or "--" are the command's name. */
  usage: string
  /** One line of help. */
  summary: string
  /** The rest of the help. */
  details: string
  /** @param words the arguments after the name */
  run: (words: string[], terminal: Terminal) => Promise<void>
}

/** A mistyped command, shown as one line with a hint to the help. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A failed command, shown as one line. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/**
 * Parses a command's arguments.
 * @param operands the names of the operands, all of which are required
 * @param optional how many more there may be
 * @param options the options, as parseArgs takes them
 * @throws {UsageError} if an operand is missing or superfluous, or an option is wrong
 */
export function readWords<const Options extends NonNullable<ParseArgsConfig['options']>>(
  words: string[],
  operands: readonly string[],
  options: Options,
  optional = 0,
) {
  const { values, positionals } = parse()
  const missing = operands[positionals.length]
  if (missing !== undefined) throw new UsageError(`<${missing}> is missing.`)
  const [surplus] = positionals.slice(operands.length + optional)
  if (surplus !== undefined) throw new UsageError(`Unexpected argument "${surplus}".`)
  return { values, operands: positionals }

  function parse() {
    try {
      return parseArgs({ args: words, options, allowPositionals: true })
    } catch (error) {
      const [, unknown = ''] = /^Unknown option '--([^']*)'/.exec(reasonOf(error)) ?? []
      const meant = nearest(unknown, Object.keys(options))
      if (meant !== undefined) throw new UsageError(`There is no option --${unknown}. Did you mean --${meant}?`)
      // Cuts off parseArgs' advice on operands that begin with a dash.
      throw new UsageError(`${reasonOf(error).replace(/\. To specify a positional .*|\.$/, '')}.`, { cause: error })
    }
  }
}
