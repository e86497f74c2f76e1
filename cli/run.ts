import { createRequire } from 'node:module'
import { StartError } from '../src/errors/start-error.ts'
import { program } from '../src/program.ts'
import { assertDistinct } from '../src/records/distinct-kinds.ts'
import { auditOf } from '../src/records/audit.ts'
import { kinds, users } from '../src/records/kinds.ts'
import type { RecordKind } from '../src/records/record-kind.ts'
import { newToken, tokens } from '../src/records/tokens.ts'
import { CommandError, nearest, UsageError } from './command.ts'
import { recordAdd, recordChange, recordList, recordRemove, recordShow } from './records.ts'
import { launched, migrate, routes, seed } from './set-up.ts'
import type { Command, Terminal } from './terminal.ts'
import { copy, exportAll, recordImport, restore } from './transfer.ts'
import { userAdd, userPassword } from './users.ts'
import { describeDatabaseFailure, unlessRefused } from './with-database.ts'

const { version } = createRequire(import.meta.url)('#package') as { version: string }

/** All commands, in the order of the help. @throws {StartError} if one has the name of another */
function commandsFor(ownKinds: readonly RecordKind[], own: readonly Command[]): readonly Command[] {
  const all = [...kinds, ...ownKinds]
  const userCommands = [
    userAdd,
    recordList(users),
    recordShow(users),
    recordChange(users),
    userPassword,
    recordRemove(users, all),
    recordImport(users),
  ]
  const recordCommands = all
    .filter(kind => kind !== users)
    .flatMap(kind => [
      recordList(kind),
      recordShow(kind),
      recordAdd(kind),
      recordChange(kind),
      recordRemove(kind, all),
      recordImport(kind),
    ])
  const tokenCommands = [
    recordAdd(tokens, newToken),
    recordList(tokens, {
      columns: ['id', 'name', 'user', 'read_only', 'expires_at', 'last_used_at', 'created_at'],
    }),
    recordRemove(tokens, all, 'revoke'),
  ]
  const commands = [
    ...userCommands,
    ...tokenCommands,
    ...recordCommands,
    recordList(auditOf(all), {
      usage: 'audit [options]',
      summary: 'Lists who changed which records, newest first.',
      columns: ['at', 'actor', 'action', 'table', 'record_id', 'via'],
      limit: '50',
    }),
    exportAll,
    restore,
    copy,
    migrate,
    seed,
    routes,
    ...launched,
    ...own,
  ]
  for (const [index, { name }] of commands.entries()) {
    const isTaken = commands.slice(0, index).some(({ name: other }) => other.every((word, at) => name[at] === word))
    if (isTaken) throw new StartError(`The command "${name.join(' ')}" has the name of another.`)
  }
  return commands
}

/**
 * Runs a command, or shows the help.
 * @param typed the arguments of the process
 * @returns the exit code: 0, 1 if the command failed, 2 if it was mistyped
 */
export async function run(typed: string[], terminal: Terminal): Promise<number> {
  const ownKinds = terminal.additions?.records ?? []
  try {
    assertDistinct(ownKinds)
    return await runAmong(commandsFor(ownKinds, terminal.additions?.commands ?? []), typed, terminal)
  } catch (error) {
    terminal.errors.write(`portico: ${printable(failureOf(error))}\n`)
    return 1
  }
}

async function runAmong(commands: readonly Command[], typed: string[], terminal: Terminal): Promise<number> {
  const words = typed[0] === 'help' ? typed.slice(1) : typed
  if (words[0] === '--version') {
    terminal.output.write(`portico ${version}\n`)
    return 0
  }
  const isGroup = words.length === 1 && commands.some(({ name }) => name.length > 1 && name[0] === words[0])
  const asksForHelp =
    isGroup || words.length === 0 || words !== typed || words.includes('--help') || words.includes('-h')
  const command = commands.find(({ name }) => name.every((word, index) => words[index] === word))
  if (asksForHelp) {
    terminal.output.write(command === undefined ? overview(commands, words) : helpOf(command))
    return 0
  }
  try {
    if (command === undefined) throw unknownCommand(commands, words.slice(0, 2).join(' '))
    const { name, run } = command
    await unlessRefused(() => run(words.slice(name.length), terminal))
    return 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const failed = [program, ...(command?.name ?? [])].join(' ')
    terminal.errors.write(`portico: ${printable(error.message)} ${failed} --help shows how.\n`)
    return 2
  }
}

/** @throws the error if it is a fault of the program */
function failureOf(error: unknown): string {
  if (error instanceof CommandError || error instanceof StartError) return error.message
  const failure = describeDatabaseFailure(error)
  if (failure === undefined) throw error
  return failure
}

/** A message without control characters, which the terminal would execute. They come from files and arguments. */
function printable(message: string): string {
  return message.replace(/[^\P{Cc}\n]+/gu, ' ')
}

function unknownCommand(commands: readonly Command[], typed: string): UsageError {
  const names = commands.map(({ name }) => name.join(' '))
  const meant = nearest(typed, names) ?? nearest(typed.split(' ')[0] ?? '', [...new Set(names)])
  return new UsageError(`"${typed}" is not a command.${meant === undefined ? '' : ` Did you mean "${meant}"?`}`)
}

/** The command and its operands, so that a line of the overview fits a terminal. The command's help has its options. */
function synopsisOf({ usage }: Command): string {
  return usage.replace(/ (?:\[|--).*/, '')
}

/** The help on all commands, or on those that begin with the first word if there are any. */
function overview(commands: readonly Command[], [first]: string[]): string {
  const some = commands.filter(({ name }) => name[0] === first)
  const listed = some.length > 0 ? some : commands
  const width = Math.max(...listed.map(command => synopsisOf(command).length))
  const lines = listed.map(command => `  ${synopsisOf(command).padEnd(width)}  ${command.summary}\n`)
  return `Usage: ${program} <command>\n\n${lines.join('')}\nRun ${program} <command> --help for its options.\n`
}

function helpOf({ usage, summary, details }: Command): string {
  return `Usage: ${program} ${usage}\n\n${summary}\n\n${details}\n`
}
