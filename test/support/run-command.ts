import { PassThrough, Readable } from 'node:stream'
import type { Additions } from '../../app.ts'
import { run } from '../../cli/run.ts'
import type { Database } from '../../src/database/database.ts'

interface Typed {
  /** What the command reads: a text, or a stream. Default: nothing. */
  input?: string | Buffer | Readable
  systemUser?: string
  additions?: Additions
  /** The streams that are terminals. */
  terminals?: readonly ('input' | 'output' | 'errors')[]
  /** The width of the terminals. */
  columns?: number
  /** The port of the server on this machine. */
  port?: number
}

interface Opening {
  openDatabase: (options?: object) => Promise<Database>
}

type Words = string | readonly string[]

/**
 * Runs a command in this process.
 * @param words as a shell has them: a word with blanks is in double quotes
 */
export async function runCommand(
  words: Words,
  { openDatabase, input = '', terminals = [], columns, port, additions = {}, systemUser }: Typed & Opening,
) {
  let output = ''
  let errors = ''
  const asTerminal = (name: 'input' | 'output' | 'errors') => ({ isTTY: terminals.includes(name), columns })
  const stream = input instanceof Readable ? input : Readable.from([Buffer.from(input)])
  const code = await run(typeof words === 'string' ? wordsOf(words) : [...words], {
    input: Object.assign(stream, asTerminal('input')),
    output: Object.assign(new PassThrough(), asTerminal('output')).on('data', chunk => {
      output += String(chunk)
    }),
    errors: Object.assign(new PassThrough(), asTerminal('errors')).on('data', chunk => {
      errors += String(chunk)
    }),
    systemUser,
    openDatabase,
    ...(port !== undefined && { port: () => port }),
    additions,
  })
  return { code, output, errors }
}

/** Runs commands on a database that stays open after each of them. */
export function commandsOn(database: Database, always: Typed = {}) {
  const opening = { openDatabase: keptOpen(database) }
  const type = async (words: Words, typed: Typed & Partial<Opening> = {}) =>
    await runCommand(words, { ...opening, ...always, ...typed })
  return {
    type,
    /** @returns what a command prints @throws its errors if it fails */
    print: async (words: Words, typed?: Typed) => outputOf(await type(words, typed)),
    /** @returns the records that a command prints as JSON @throws its errors if it fails */
    json: async (words: string, typed?: Typed) =>
      outputOf(await type(`${words} --json`, typed))
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line)),
    /** @returns why a command fails @throws if it does not, is mistyped, or prints anything else */
    refusal: async (words: Words, typed?: Typed & Partial<Opening>) => {
      const { code, output, errors } = await type(words, typed)
      const [, reason] = /^portico: ([^]+)\n$/.exec(errors) ?? []
      if (code !== 1 || output !== '' || reason === undefined) throw new Error(`${code}: ${output}${errors}`)
      return reason
    },
  }
}

/** An input that arrives in pieces, some of which end within a character. */
export function inPieces(text: string): Readable {
  const bytes = Buffer.from(text)
  const starts = Array.from({ length: Math.ceil(bytes.length / 101) }, (_, index) => index * 101)
  return Readable.from(
    starts.map(start => bytes.subarray(start, start + 101)),
    { objectMode: false },
  )
}

/** For a database that stays open after the command. */
export function keptOpen(database: Database): () => Promise<Database> {
  return async () => ({ ...database, close: async () => {} })
}

function outputOf({ code, output, errors }: Awaited<ReturnType<typeof runCommand>>): string {
  if (code !== 0) throw new Error(errors)
  return output
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) => word.replaceAll('"', ''))
}
