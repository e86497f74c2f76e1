import { PassThrough, Readable } from 'node:stream'
import type { Additions } from '../../src/additions.ts'
import { run } from '../../src/command-line/run.ts'
import type { Database } from '../../src/database/database.ts'

interface Typed {
  openDatabase: (options?: object) => Promise<Database>
  systemUser?: string
  input?: Readable
  additions?: Additions
  /** The streams that are terminals. */
  terminals?: readonly ('input' | 'output' | 'errors')[]
  /** The port of the server on this machine. */
  port?: number
}

/** Runs a command in this process. */
export async function runCommand(
  words: string[],
  { openDatabase, systemUser, input = Readable.from([]), terminals = [], port, additions = {} }: Typed,
) {
  let output = ''
  let errors = ''
  const isTerminal = (name: 'input' | 'output' | 'errors') => ({ isTTY: terminals.includes(name) })
  const code = await run(words, {
    input: Object.assign(input, isTerminal('input')),
    output: Object.assign(
      new PassThrough().on('data', chunk => {
        output += String(chunk)
      }),
      isTerminal('output'),
    ),
    errors: Object.assign(
      new PassThrough().on('data', chunk => {
        errors += String(chunk)
      }),
      isTerminal('errors'),
    ),
    systemUser,
    openDatabase,
    ...(port !== undefined && { port: () => port }),
    additions,
  })
  return { code, output, errors }
}

/** For a database that stays open after the command. */
export function keptOpen(database: Database): () => Promise<Database> {
  return async () => ({ ...database, close: async () => {} })
}
