import { setTimeout } from 'node:timers/promises'
import {
  type Answer,
  type Command,
  features,
  type Question,
  type Terminal,
  type TypedCommand,
} from '../../core/feature.ts'
import { attempt, isRecord, listOf, propertyOf } from '../../core/foreign-value.ts'
import type { Profile } from '../../core/profile.ts'
import type { ProfileSummary, SearchResult } from '../../core/summary.ts'
import { statusTone } from '../../core/view/elements.ts'
import { count, cut, formatDuration } from '../../core/view/units.ts'
import { profileQuestion } from '../home/ask-profile.ts'
import { fencesNote, questions, visibleText } from '../home/question.ts'
import { searchQuestion } from '../home/questions.ts'
import '../index.ts'
import { curlCommand, quote } from '../request/sent-request.ts'
import { isFrom, type KnownApplication } from './asker.ts'
import { type Color, colored, jsonText } from './terminal.ts'

const colors: Record<ReturnType<typeof statusTone>, Color> = {
  good: 'green',
  neutral: 'gray',
  warning: 'yellow',
  error: 'red',
}

/** A request in one line: its token, status, time, queries, URL and exception. */
export function summaryLine(summary: ProfileSummary, terminal: Pick<Terminal, 'hasColors' | 'columns'>): string {
  const { duration, exception, method, queries, repeated, status, token, url } = summary
  const figures = [
    formatDuration(duration).padStart(9),
    (queries.count > 0 ? count(queries.count, 'query', 'queries') : '').padStart(11),
    repeated > 0 ? 'N+1' : '   ',
  ].join(' ')
  const head = `${oneLine(token)} `
  const text = `${oneLine(`${method} ${url}`)}${exception === null ? '' : `  ${oneLine(exception)}`}`
  const room = terminal.columns - head.length - figures.length - 6
  const cut = text.length > room ? `${text.slice(0, Math.max(0, room - 1))}…` : text
  const mark = String(status ?? '–').padStart(3)
  return `${colored(terminal, 'gray', head)}${colored(terminal, colors[statusTone(status)], mark)} ${figures} ${cut}`
}

function oneLine(text: string): string {
  return visibleText(text).replace(/\s+/g, ' ')
}

/** Milliseconds until the application is asked again after it has gone. */
const patience = 500

const parse: (text: string) => ProfileSummary = JSON.parse

/** Prints requests as they happen, until the terminal ends. Waits for an application that restarts. */
async function followRequests(asked: Asked): Promise<number> {
  const { terminal } = asked
  if (asked.applications.length === 0) {
    terminal.errors.write('No application is known. Start it, or name its pages with --url.\n')
    return 1
  }
  let isWaiting = false
  while (!terminal.ended.aborted) {
    const stream = await openFirst(asked.applications, terminal.ended)
    if (stream !== null) {
      isWaiting = false
      await printEvents(stream, asked)
    } else if (!isWaiting) {
      isWaiting = true
      terminal.errors.write('Waiting for the application.\n')
    }
    await setTimeout(patience, undefined, { signal: terminal.ended }).catch(() => {})
  }
  return 0
}

async function openFirst(applications: readonly KnownApplication[], signal: AbortSignal) {
  for (const application of applications) {
    const stream = await open(application, signal)
    if (stream !== null) return stream
  }
  return null
}

async function open(application: KnownApplication, signal: AbortSignal) {
  try {
    // A connection that is kept would hold up an application that closes.
    const headers = { accept: 'text/event-stream', connection: 'close' }
    const url = `${application.url}/events?rows=json`
    const response = await fetch(url, { headers, signal, redirect: 'error' })
    if (response.status === 200 && isFrom(application, response)) return response.body
    await response.body?.cancel()
    return null
  } catch {
    return null
  }
}

async function printEvents(stream: ReadableStream<Uint8Array>, { terminal, values }: Asked): Promise<void> {
  const isJson = values.json === true || !terminal.isScreen
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true })
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) printEvent(event)
    }
  } catch {
    // The application has gone.
  }

  function printEvent(event: string): void {
    const [, data = '{}'] = /^event: requests\ndata: (.*)$/s.exec(event) ?? []
    const told: unknown = JSON.parse(data)
    for (const row of listOf(propertyOf(told, 'rows')).map(String)) {
      terminal.output.write(`${isJson ? jsonText(parse(row)) : summaryLine(parse(row), terminal)}\n`)
    }
    const missed = Number(propertyOf(told, 'missed') ?? 0)
    if (missed > 0) terminal.errors.write(`${missed} more requests.\n`)
  }
}

interface Asked extends TypedCommand {
  applications: readonly KnownApplication[]
}

/** The operands of a command, by the names of the parameters that they stand for. */
export function argumentsIn(operands: readonly string[], { command }: Question): Record<string, string | undefined> {
  const names = command.takes.match(/\w+/g) ?? []
  return command.operands?.(operands) ?? Object.fromEntries(names.map((name, index) => [name, operands[index]]))
}

/** How many operands a command needs at least, and takes at most. */
export function countOf({ count, takes }: Command<Asked>): readonly [number, number] {
  const each = takes.split(' ').filter(operand => operand !== '')
  return count ?? [each.filter(operand => operand.startsWith('<')).length, each.length]
}

function asking(question: Question): Command {
  return {
    ...question.command,
    options: optionsOf(question),
    async run(asked) {
      const answer = await answerTo(question, asked)
      const text = visibleText(answer.text)
      // An agent reads what is no terminal: Markdown, with recorded text in its fences.
      const shown = asked.terminal.isScreen ? screenText(text, asked.terminal.columns) : text
      return print(asked, answer, asked.values.json === true ? jsonText(answer.data) : shown)
    },
  }
}

/** An answer for a person: calls as commands, tables lined up, and neither fences nor the note about them. */
function screenText(markdown: string, columns: number): string {
  return markdown
    .replace(`${fencesNote}\n\n`, '')
    .replace(/^(?:\| .*\n?)+/gm, table => linedUp(table, columns))
    .replace(/^- .*/gm, unmarked)
    .replace(/`(\w+) (\{"[^`]*\})`/g, (call, name: string, given: string) => shellCommand(name, given) ?? call)
    .replace(/^`{3,}\w*\n?/gm, '')
}

/** A table whose columns are as wide as their longest cells, cut at the edge of the screen. */
function linedUp(table: string, columns: number): string {
  const rows = table.split('\n').filter(row => row !== '' && !row.startsWith('| ---'))
  const cells = rows.map(row => row.slice(2, -2).split(' | ').map(unmarked))
  const widths = cells[0]?.map((_, index) => Math.max(...cells.map(row => row[index]?.length ?? 0))) ?? []
  const lines = cells.map(row => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  '))
  return lines.map(line => `${cut(line.trimEnd(), columns - 1)}\n`).join('')
}

/** Markdown without its backslashes and backticks. */
function unmarked(markdown: string): string {
  return markdown.replace(
    /(`+) ?(.*?) ?\1|\\(\W)/g,
    (_, _ticks, code?: string, escaped?: string) => code ?? escaped ?? '',
  )
}

function shellCommand(name: string, json: string): string | null {
  const question = questions().find(question => question.name === name)
  const given = attempt((): unknown => JSON.parse(json), null)
  if (question === undefined || !isRecord(given)) return null
  const operands = Object.keys(argumentsIn([], question))
  const named = Object.entries(given).filter(([key]) => !operands.includes(key))
  const words = [
    ...operands.flatMap(key => given[key] ?? []),
    ...named.flatMap(([key, value]) => [`--${key.replace('_', '-')}`, ...(value === true ? [] : [value])]),
  ].map(String)
  return `fastify-profiler ${[question.command.name, ...words.map(word => (/^[\w…./-]+$/.test(word) ? word : quote(word)))].join(' ')}`
}

function optionsOf({ parameters }: Question): string[] {
  return ['json', 'max-tokens', ...Object.keys(parameters)]
}

export const commands: Record<string, Command<Asked>> = {
  ...Object.fromEntries(questions().map(question => [question.command.name, asking(question)])),
  [searchQuestion.command.name]: { ...asking(searchQuestion), run: list },
  tail: { takes: '', says: 'requests as they happen', options: ['json'], run: followRequests },
  curl: { takes: '<token>', says: 'the request as a command of curl', options: [], run: curl },
  ...Object.fromEntries(features.flatMap(({ commands = {} }) => Object.entries(commands))),
}

/** Finds a command by its name, or by that of its question. Answers name questions. */
export function commandOf(name: string): Command<Asked> | undefined {
  const known = questions().find(question => question.name === name)?.command.name ?? name
  return Object.hasOwn(commands, known) ? commands[known] : undefined
}

async function answerTo(question: Question, { ask, operands, values }: TypedCommand): Promise<Answer> {
  const given: Record<string, unknown> = {}
  const named = Object.entries(argumentsIn(operands, question)).filter(([, value]) => value !== undefined)
  const typed = { ...values, max_tokens: values['max-tokens'], ...Object.fromEntries(named) }
  for (const [name, value] of Object.entries(typed)) {
    const parameter = name === 'max_tokens' ? { type: 'integer' } : question.parameters[name]
    if (parameter === undefined || value === undefined) continue
    given[name] = parameter.type === 'integer' && /^\d+$/.test(String(value)) ? Number(value) : value
  }
  return ask(question, given)
}

function print({ terminal }: TypedCommand, { failed = false, text }: Answer, output: string): number {
  if (failed) terminal.errors.write(`${visibleText(text)}\n`)
  else terminal.output.write(`${output}\n`)
  return failed ? 1 : 0
}

async function list(asked: TypedCommand): Promise<number> {
  const answer = await answerTo(searchQuestion, asked)
  if (asked.values.json === true) return print(asked, answer, jsonText(answer.data))
  // An agent reads what is no terminal: recorded text stays in its fence.
  if (!asked.terminal.isScreen || !isSearch(answer.data)) return print(asked, answer, visibleText(answer.text))
  const { page, pages, problems, profiles } = answer.data
  const lines = profiles.map(summary => summaryLine(summary, asked.terminal))
  const rest = pages > page ? [`Page ${page} of ${pages}: --page ${page + 1} has the next.`] : []
  return print(asked, answer, [...problems.map(visibleText), ...lines, ...rest].join('\n'))
}

async function curl(asked: TypedCommand): Promise<number> {
  const answer = await answerTo(profileQuestion, asked)
  if (!isProfile(answer.data)) return print(asked, answer, '')
  const command = curlCommand(answer.data)
  const visible = visibleText(command)
  if (visible !== command) {
    asked.terminal.errors.write('fastify-profiler: Invisible characters are shown, so the command sends other ones.\n')
  }
  return print(asked, answer, visible)
}

function isSearch(data: unknown): data is SearchResult {
  return isRecord(data) && 'profiles' in data
}

function isProfile(data: unknown): data is Profile {
  return isRecord(data) && 'request' in data
}
