import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Parameter, Terminal, TypedCommand } from '../../core/feature.ts'
import { packageVersion } from '../../core/package-version.ts'
import { environmentOptions } from '../../options.ts'
import { questions, visibleText } from '../home/question.ts'
import { nearestName } from '../routing/similar-routes.ts'
import { Asker } from './asker.ts'
import { argumentsIn, commandOf, commands, countOf } from './commands.ts'
import { UsageError } from './terminal.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

/** The parameters that commands take as options, with the commands. */
const parameters = new Map<string, { parameter: Parameter; takers: string[] }>()
for (const { command, parameters: all, required } of questions()) {
  for (const [name, parameter] of Object.entries(all)) {
    if (required.includes(name)) continue
    const known = parameters.get(name) ?? { parameter, takers: [] }
    parameters.set(name, { ...known, takers: [...known.takers, command.name] })
  }
}

const options = {
  ...Object.fromEntries(
    [...parameters].map(([name, { parameter }]) => [name, parameter.type === 'boolean' ? flag : text]),
  ),
  url: text,
  directory: text,
  json: flag,
  'max-tokens': text,
  yes: flag,
  help: { ...flag, short: 'h' },
  version: flag,
}

/** The options that are not given as operands, each with a description of the first command that takes it. */
const described = [...parameters].flatMap(([name, { parameter, takers }]) => {
  const operands = questions().flatMap(question => Object.keys(argumentsIn([], question)))
  if (operands.includes(name)) return []
  const value = parameter.type === 'boolean' ? '' : parameter.type === 'integer' ? ' <n>' : ' <text>'
  const values = parameter.enum === undefined ? '' : ` One of ${parameter.enum.join(', ')}.`
  return `  ${`--${name}${value}`.padEnd(19)} ${takers.join(', ')}: ${parameter.description}${values}`
})

type Values = TypedCommand['values'] & { url?: string; directory?: string }

/** The options of every command. */
const anywhere = new Set(['url', 'directory'])

const help = `Usage: fastify-profiler <command> [options]

${Object.entries(commands)
  .map(([name, { takes, says }]) => `  ${`${name} ${takes}`.padEnd(32)} ${says}`)
  .join('\n')}

Answers come from the running application, or from its files when it is down. Their calls work here, too: profile is
show, and search is list.

  --url <url>         the application's profiles, such as http://localhost:3000/_profiler/
  --directory <path>  the folder of the profiles. Default: FASTIFY_PROFILER_DIRECTORY, or .profiler
  --json              the data, for programs
  --max-tokens <n>    how long an answer may be, from 500. Default: 2000. A page of list has 20 requests all the same
${described.join('\n')}
${Object.hasOwn(commands, 'init') ? '  --yes               init: does not ask\n' : ''}`

/** Runs a command. @returns the exit code: 0, 1 if there is no answer, 2 if the command is not understood */
export async function run(words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const { positionals, values } = parsed(words)
    const [name, ...operands] = positionals
    if (values.version === true) return say(terminal, `${packageVersion}\n`)
    if (values.help === true || name === undefined) return say(terminal, help)
    const command = commandOf(name)
    if (command === undefined) {
      throw new UsageError(`There is no command of this name.${meant(name, Object.keys(commands))}`)
    }
    const [least, most] = countOf(command)
    if (operands.length < least || operands.length > most) {
      throw new UsageError(`${name} takes ${command.takes === '' ? 'no operands' : command.takes}.`)
    }
    const other = Object.keys(values).find(option => !anywhere.has(option) && !command.options.includes(option))
    if (other !== undefined) throw new UsageError(`${name} does not take --${other}.`)
    const asker = askerOf(values, terminal)
    return await command.run({
      operands,
      values,
      terminal,
      ask: (question, given) => asker.ask(question, given),
      get applications() {
        return asker.applications
      },
    })
  } catch (error) {
    const isUsage = error instanceof UsageError
    terminal.errors.write(`fastify-profiler: ${visibleText(isUsage ? error.message : String(error))}\n`)
    return isUsage ? 2 : 1
  }
}

function say({ output }: Terminal, text: string): number {
  output.write(text)
  return 0
}

function parsed(words: readonly string[]): { positionals: string[]; values: Values } {
  const { positionals, values } = parsedByNode(words)
  const empty = Object.entries(values).find(([, value]) => value === '')
  if (empty !== undefined) throw new UsageError(`--${empty[0]} is empty.`)
  return { positionals, values }
}

function parsedByNode(words: readonly string[]) {
  try {
    return parseArgs({ args: words.map(asOperand), options, allowPositionals: true })
  } catch (error) {
    const [, name = ''] = /^--([^=]*)/.exec(words.find(word => !isKnown(word)) ?? '') ?? []
    const [reason] = String(error)
      .replace(/^.*?: /, '')
      .split(/\.\s/)
    throw new UsageError(`${reason}.${meant(name, Object.keys(options), '--')}`)
  }
}

/** A token may begin with a hyphen, like an option. As a path it does not. */
function asOperand(word: string): string {
  return /^-[\w-]{11}$/.test(word) && !Object.hasOwn(options, word.slice(2).replaceAll('_', '-')) ? `./${word}` : word
}

function isKnown(word: string): boolean {
  return !word.startsWith('--') || Object.hasOwn(options, word.slice(2).replace(/=.*/, ''))
}

/** The name that was probably meant. */
function meant(word: string, names: readonly string[], before = ''): string {
  const nearest = nearestName(word, names)
  return nearest === undefined ? ' See fastify-profiler --help.' : ` Did you mean ${before}${nearest}?`
}

function askerOf({ directory, url }: Values, { env, errors, folder }: Terminal): Asker {
  const given = settingsOf(env, folder)
  return new Asker({
    url: url ?? null,
    directory: resolve(folder, directory ?? given.directory ?? join(folder, '.profiler')),
    base: given.base ?? '/_profiler',
    root: given.root ?? folder,
    tell: sentence => errors.write(`fastify-profiler: ${sentence}\n`),
  })
}

function settingsOf(env: Terminal['env'], folder: string) {
  try {
    return environmentOptions(env, folder)
  } catch (error) {
    throw new UsageError(String(error))
  }
}
