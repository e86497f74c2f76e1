import { StartError } from '../errors/start-error.ts'
import { type Command, CommandError, type Terminal, UsageError } from './command.ts'
import { commands } from './commands.ts'

/** The program as typed in the project's folder. */
const program = 'npm run portico --'

/**
 * Runs a command, or shows the help.
 * @param typed the arguments of the process
 * @returns the exit code: 0, 1 if the command failed, 2 if it was mistyped
 */
export async function run(typed: string[], terminal: Terminal): Promise<number> {
  const words = typed[0] === 'help' ? typed.slice(1) : typed
  const asksForHelp = words.length === 0 || words !== typed || words.includes('--help') || words.includes('-h')
  const command = commands.find(command => nameOf(command).every((word, index) => words[index] === word))
  if (asksForHelp) {
    terminal.output.write(command === undefined ? overview(words) : helpOf(command))
    return 0
  }
  try {
    if (command === undefined) throw new UsageError(`"${words.slice(0, 2).join(' ')}" is not a command.`)
    await command.run(words.slice(nameOf(command).length), terminal)
    return 0
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.errors.write(
        `portico: ${error.message} ${program}${command === undefined ? '' : ` ${nameOf(command).join(' ')}`} --help shows how.\n`,
      )
      return 2
    }
    if (!(error instanceof CommandError || error instanceof StartError)) throw error
    terminal.errors.write(`portico: ${error.message}\n`)
    return 1
  }
}

function nameOf({ usage }: Command): string[] {
  return usage.replace(/ [<[].*/, '').split(' ')
}

/** The help on all commands, or on those that begin with the first word if there are any. */
function overview([first]: string[]): string {
  const some = commands.filter(command => nameOf(command)[0] === first)
  const listed = some.length > 0 ? some : commands
  const width = Math.max(...listed.map(({ usage }) => usage.length))
  return `Usage: ${program} <command>\n\n${listed.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}\n`).join('')}\nRun ${program} <command> --help for details.\n`
}

function helpOf({ usage, summary, details }: Command): string {
  return `Usage: ${program} ${usage}\n\n${summary}\n\n${details}\n`
}
