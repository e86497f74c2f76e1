import type { TObject } from 'typebox'
import type { Database, DatabaseOptions } from '../src/database/database.ts'
import type { Migrations } from '../src/database/migrations.ts'
import { reasonOf } from '../src/errors/start-error.ts'
import type { RecordKind } from '../src/records/record-kind.ts'

export interface Command {
  /** The words that call it: ["user", "add"]. */
  name: readonly string[]
  /** The synopsis: "user add <email> [--admin]". */
  usage: string
  /** One line of help. */
  summary: string
  /** The rest of the help. */
  details: string
  /** @param words the arguments after the name */
  run: (words: readonly string[], terminal: Terminal) => Promise<void>
}

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
  /** What an application that is built on Portico adds, as `Additions` describes it. Default: nothing. */
  additions?: {
    records?: readonly RecordKind[]
    commands?: readonly Command[]
    seeds?: Migrations
    settings?: TObject
  }
}

/**
 * The name of the system's user who runs this process: who called sudo, or who is logged in.
 * @param uid names the user where the environment does not, as in a container
 */
export function systemUserOf({ SUDO_USER, LOGNAME, USER }: NodeJS.ProcessEnv, uid: number | undefined): string {
  return [SUDO_USER, LOGNAME, USER].find(name => name !== undefined && name !== '') ?? `uid ${uid}`
}

/** Ends the process if its output cannot be written. A closed pipe, as in "| head", is not an error. */
export function endWithOutput(
  { output, errors }: Pick<Terminal, 'output' | 'errors'>,
  exit: (code: number) => void,
): void {
  output.on('error', (error: NodeJS.ErrnoException) => {
    const isCut = error.code === 'EPIPE'
    if (!isCut) errors.write(`portico: The output cannot be written: ${reasonOf(error)}.\n`)
    exit(isCut ? 0 : 1)
  })
}

export function isTerminal(stream: object): boolean {
  return 'isTTY' in stream && stream.isTTY === true
}

/** Tells a terminal why nothing happens for some seconds. */
export function tellCreation(errors: NodeJS.WritableStream, dataDir: string): void {
  if (isTerminal(errors)) errors.write(`Creating the database in ${dataDir}.\n`)
}

/** Warns on standard error, so that the output stays the same. */
export function writeWarning({ errors }: Terminal, warning: string | undefined): void {
  if (warning !== undefined) errors.write(`portico: Warning: ${warning}\n`)
}

/** Writes the outcome of a command as a sentence, or as a line of JSON. */
export function writeOutcome({ output }: Terminal, sentence: string, outcome: object, json: boolean): void {
  output.write(json ? jsonLine(outcome) : `${sentence}\n`)
}

function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`
}

/**
 * Makes a function that writes pages of a list, as a table or each item as a line of JSON. A table fits its terminal:
 * the last columns are left out, and long cells are cut.
 * @param hasHeading whether the first page has a heading
 */
export function listWriter({ output }: Terminal, json: boolean, columns: readonly string[], hasHeading = true) {
  let isHeadingDue = hasHeading
  return <Item extends object>(items: readonly Item[], cellsOf: (item: Item) => readonly unknown[]): void => {
    if (json) {
      output.write(items.map(jsonLine).join(''))
      return
    }
    const cells = items.map(item => cellsOf(item).map(cellOf))
    const [heading = '', ...rows] = renderTable(fitTable([columns, ...cells], widthOf(output)))
    output.write([isHeadingDue ? heading : '', ...rows].join(''))
    isHeadingDue = false
  }
}

export function cellOf(value: unknown): string {
  // Records that did not come through the API may contain escape sequences, which the terminal would execute.
  return [value]
    .flat()
    .join(',')
    .replace(/\p{Cc}+/gu, ' ')
}

/** The columns of a terminal. Those that do not tell are as wide as they always were. */
function widthOf(output: object): number {
  if (!isTerminal(output)) return Infinity
  return 'columns' in output && typeof output.columns === 'number' && output.columns > 0 ? output.columns : 80
}

type Rows = readonly (readonly string[])[]

const gap = '  '
const fewestColumns = 3
const usualWidth = 12
const narrowest = 8

export function renderTable(rows: Rows): string[] {
  const widths = widthsOf(rows)
  return rows.map(
    row =>
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(gap)
        .trimEnd()}\n`,
  )
}

/**
 * Makes a table as narrow as a terminal. The headings decide which of the last columns are left out, so that each page
 * of a list has the same columns. Then the widest columns are cut.
 */
function fitTable(rows: Rows, width: number): Rows {
  const [headings = []] = rows
  const usual = headings.map(name => Math.max(name.length, usualWidth))
  let count = headings.length
  while (count > fewestColumns && totalOf(usual.slice(0, count)) > width) count--
  const kept = rows.map(row => row.slice(0, count))
  const widths = widthsOf(kept)
  while (totalOf(widths) > width && Math.max(...widths) > narrowest) {
    const widest = widths.indexOf(Math.max(...widths))
    widths[widest] = Math.max(...widths) - 1
  }
  return kept.map(row =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0
      return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell
    }),
  )
}

function widthsOf(rows: Rows): number[] {
  const [headings = []] = rows
  return headings.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)))
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + gap.length, -gap.length)
}

const barWidth = 30
/** Between two updates of the progress, in milliseconds. */
const interval = 100

/**
 * Shows the progress of a command that takes long on its terminal, and then its outcome with the time that it took.
 * @param items the items in words, such as "licenses"
 * @param act does the work, and returns the outcome as the beginning of a sentence and as JSON, or undefined for none.
 * It shows the part that is done, from 0 to 1 or undefined if that is unknown, and the number of items.
 */
export async function withProgress(
  terminal: Terminal,
  json: boolean,
  items: string,
  act: (
    show: (part: number | undefined, count: number) => void,
  ) => Promise<{ sentence: string; outcome: object } | undefined>,
): Promise<void> {
  const { errors } = terminal
  const begun = performance.now()
  const isShown = isTerminal(errors)
  let shownAt = -Infinity
  const acted = await act((part, count) => {
    const now = performance.now()
    if (!isShown || now - shownAt < interval) return
    shownAt = now
    const rate = Math.round((count / (now - begun)) * 1000)
    const text = `${count.toLocaleString('en')} ${items}, ${rate.toLocaleString('en')} a second`
    errors.write(`\r\u001b[K${part === undefined ? '' : barOf(part)}${text}`)
  }).finally(() => {
    if (isShown) errors.write('\r\u001b[K')
  })
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  if (acted === undefined) return
  // Less than a second interests nobody.
  const duration = Number(seconds) < 1 ? '' : ` in ${seconds} s`
  writeOutcome(terminal, `${acted.sentence}${duration}.`, { ...acted.outcome, seconds: Number(seconds) }, json)
}

function barOf(part: number): string {
  const filled = Math.round(barWidth * part)
  const percent = String(Math.round(part * 100)).padStart(3)
  return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${percent} %  `
}
