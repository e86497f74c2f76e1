import { parseArgs, type ParseArgsConfig } from 'node:util'
import { reasonOf } from '../src/errors/start-error.ts'
import type { Command, Terminal } from './terminal.ts'

/** A mistyped command, shown as one line with a hint to the help. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A failed command, shown as one line. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** An option as parseArgs takes it, with its help. */
type Option = NonNullable<ParseArgsConfig['options']>[string] & {
  /** What follows its name in the help: " <file>". */
  value?: string
  /** Undefined for an option that the help describes elsewhere. */
  help?: string
  /** Whether "--protected" means "--protected true", and "--no-protected" means "--protected false". */
  isSwitch?: boolean
}

export type Options = Readonly<Record<string, Option>>

export function flag(help: string) {
  return { type: 'boolean', default: false, help } as const
}

/** An option with a value. @param placeholder stands for the value in the help: "<file>" */
export function text(placeholder: string, help: string) {
  return { type: 'string', value: ` ${placeholder}`, help } as const
}

interface Parsing<Own extends Options> {
  args: string[]
  options: Own
  allowPositionals: true
}

interface Definition<Own extends Options> {
  /** The name and the required operands, then options and "[<an optional operand>]". Decides how many there may be. */
  usage: string
  summary: string
  /** The help above the options, with its line ends. */
  intro?: string
  options: Own
  /** The help below the options. */
  notes?: string | undefined
  /** What is said of too many operands if they may be secret. */
  surplus?: string
  run: (
    terminal: Terminal,
    values: ReturnType<typeof parseArgs<Parsing<Own>>>['values'],
    operands: readonly string[],
  ) => Promise<void>
}

export function command<const Own extends Options>(definition: Definition<Own>): Command {
  const { usage, summary, intro = '', options, notes, surplus: surplusMessage, run } = definition
  const name = usage.replace(/ (?:[<[]|--).*/, '')
  const rest = usage.slice(name.length)
  const required = [...rest.matchAll(/ <([^>]+)>/gy)]
  const most = required.length + [...rest.matchAll(/ \[</g)].length
  return {
    name: name.split(' '),
    usage,
    summary,
    details: `${intro}${describeOptions(options)}${notes === undefined ? '' : `\n\n${notes}`}`,
    async run(words, terminal) {
      const { values, positionals } = parse<Own>(words, options)
      const missing = required[positionals.length]?.[1]
      if (missing !== undefined) throw new UsageError(`<${missing}> is missing.`)
      const surplus = positionals[most]
      if (surplus !== undefined) throw new UsageError(surplusMessage ?? `Unexpected argument "${surplus}".`)
      await run(terminal, values, positionals)
    },
  }
}

function parse<Own extends Options>(words: readonly string[], options: Own) {
  try {
    return parseArgs<Parsing<Own>>({ args: completeSwitches(words, options), options, allowPositionals: true })
  } catch (error) {
    const [, unknown = ''] = /^Unknown option '--([^']*)'/.exec(reasonOf(error)) ?? []
    const meant = nearest(unknown, Object.keys(options))
    if (meant !== undefined) throw new UsageError(`There is no option --${unknown}. Did you mean --${meant}?`)
    // Cuts off parseArgs' advice on operands that begin with a dash.
    throw new UsageError(`${reasonOf(error).replace(/\. To specify a positional .*|\.$/, '')}.`, { cause: error })
  }
}

function completeSwitches(words: readonly string[], options: Options): string[] {
  const switches = Object.keys(options).filter(name => options[name]?.isSwitch)
  return words.map((word, index) => {
    if (switches.some(name => word === `--no-${name}`)) return `--${word.slice('--no-'.length)}=false`
    const isAlone = words[index + 1]?.startsWith('-') ?? true
    return isAlone && switches.some(name => word === `--${name}`) ? `${word}=true` : word
  })
}

/** The help on options, one line each. */
export function describeOptions(options: Options): string {
  const lines = Object.entries(options).flatMap(([name, { value = '', help }]) =>
    help === undefined ? [] : [{ option: `--${name}${value}`, help }],
  )
  const width = Math.max(...lines.map(({ option }) => option.length))
  return lines
    .map(({ option, help }) => `${option.padEnd(width)}  ${help.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`)
    .join('\n')
}

/** How many letters may differ. */
const mostChanges = 2

/** The candidate that a mistyped word most likely means, or undefined if none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  // A long word is no slip of the finger.
  if (word.length > 60) return undefined
  const [best] = candidates
    .map(candidate => ({ candidate, changes: changesBetween(word, candidate) }))
    .filter(({ candidate, changes }) => changes <= Math.min(mostChanges, candidate.length / 2))
    .sort((one, other) => one.changes - other.changes)
  return best?.candidate
}

/** The Levenshtein distance: the fewest letters to add, leave out or replace. */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const letter of one) {
    let diagonal = row[0] ?? 0
    let left = diagonal + 1
    row = row.map((above, index) => {
      if (index === 0) return left
      left = Math.min(above + 1, left + 1, diagonal + (letter === other[index - 1] ? 0 : 1))
      diagonal = above
      return left
    })
  }
  return row.at(-1) ?? 0
}
