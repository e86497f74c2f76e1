import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { createInterface as createQuestions } from 'node:readline/promises'
import { setTimeout } from 'node:timers/promises'
import { attempt, isRecord, listOf, propertyOf } from '../../core/foreign-value.ts'
import type { Profile } from '../../core/profile.ts'
import type { ProfileSummary, SearchResult } from '../../core/summary.ts'
import { statusTone } from '../../core/view/elements.ts'
import { formatDuration } from '../../core/view/units.ts'
import { profileQuestion } from '../agents/ask-profile.ts'
import { answerMessage } from '../agents/mcp-messages.ts'
import { type Answer, type Question, shown } from '../agents/question.ts'
import {
  compareQuestion,
  explainQuestion,
  overviewQuestion,
  routesQuestion,
  searchQuestion,
} from '../agents/questions.ts'
import { curlCommand } from '../request/curl-command.ts'
import { type Asker, isFrom, type KnownApplication } from './asker.ts'
import { type Color, colored, jsonText, type Terminal, UsageError } from './terminal.ts'

interface Agent {
  /** Where it looks for servers. */
  file: string
  /** The key of the servers in that file. */
  key: string
  /** Files and folders of those who use it. */
  signs: readonly string[]
}

const agents: readonly Agent[] = [
  { file: '.mcp.json', key: 'mcpServers', signs: ['.mcp.json', '.claude', 'CLAUDE.md'] },
  { file: '.cursor/mcp.json', key: 'mcpServers', signs: ['.cursor'] },
  { file: '.vscode/mcp.json', key: 'servers', signs: ['.vscode'] },
]

const name = 'fastify-profiler'
const entry = { type: 'stdio', command: 'npx', args: [name, 'mcp'] }

/** Adds the profiler to the settings of the agents that are used in the folder, after asking. */
async function writeEntries({ terminal, values }: Asked): Promise<number> {
  const { folder, isInteractive, output } = terminal
  const found = agents.filter(({ signs }) => signs.some(sign => existsSync(join(folder, sign))))
  if (found.length === 0) {
    output.write(`No agent is known here. Add this server to yours:\n${JSON.stringify({ [name]: entry }, null, 2)}\n`)
    return 0
  }
  if (values.yes !== true && !isInteractive) {
    throw new UsageError('init asks before it writes, and there is nobody to ask. Use --yes.')
  }
  for (const agent of found) {
    const done = await addTo(agent, terminal, values.yes === true)
    if (done === null) return 1
    output.write(`${done}\n`)
  }
  return 0
}

/** @returns what was done, as a sentence; null if the command was ended instead of an answer */
async function addTo({ file, key }: Agent, terminal: Terminal, isAgreed: boolean): Promise<string | null> {
  const path = join(terminal.folder, file)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '{}'
  const settings = attempt((): unknown => JSON.parse(text), null)
  if (!isRecord(settings)) return `${file} is no JSON object, and stays as it is.`
  const servers = settings[key] ?? {}
  if (!isRecord(servers)) return `"${key}" in ${file} is no object, and stays as it is.`
  if (name in servers) return `${file} has ${name} already.`
  const answer = isAgreed ? 'yes' : await ask(`Add ${name} to ${file}?`, terminal)
  if (answer === null) return null
  if (!/^y(?:es)?$/i.test(answer.trim())) return `${file} stays as it is.`
  mkdirSync(dirname(path), { recursive: true })
  const changed = { ...settings, [key]: { ...servers, [name]: entry } }
  writeFileSync(path, `${JSON.stringify(changed, null, /^[ \t]+/m.exec(text)?.[0] ?? 2)}\n`)
  return `${file} has ${name} now.`
}

/** @returns the answer; null for Ctrl-C, Ctrl-D and the end of the input */
async function ask(question: string, { input, output }: Terminal): Promise<string | null> {
  const reader = createQuestions({ input, output })
  const [asked] = await Promise.allSettled([
    Promise.race([reader.question(`${question} [y/N] `), once(reader, 'close').then(() => null)]),
  ])
  reader.close()
  if (asked.status === 'fulfilled' && asked.value !== null) return asked.value
  output.write('\n')
  return null
}

/** Answers the messages of an agent, one a line, until the input ends. */
async function serveStdio(asker: Asker, { errors, input, output }: Terminal): Promise<number> {
  const answering = {
    ask: (...asked: Parameters<Asker['ask']>) => asker.ask(...asked),
    complain: (error: unknown) => errors.write(`fastify-profiler: ${String(error)}\n`),
  }
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.trim() === '') continue
    const { message } = await answerMessage(line, null, answering)
    if (message !== null) output.write(`${JSON.stringify(message)}\n`)
  }
  return 0
}

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
    (queries.count > 0 ? `${queries.count} SQL` : '').padStart(7),
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
  return shown(text).replace(/\s+/g, ' ')
}

/** Milliseconds until the application is asked again after it has gone. */
const patience = 500

const parse: (text: string) => ProfileSummary = JSON.parse

/** Prints requests as they happen, until the terminal ends. Waits for an application that restarts. */
async function followRequests(asked: Asked): Promise<number> {
  const { asker, terminal } = asked
  if (asker.applications.length === 0) {
    terminal.errors.write('No application is known. Start it, or name its pages with --url.\n')
    return 1
  }
  let isWaiting = false
  while (!terminal.ended.aborted) {
    const stream = await openFirst(asker.applications, terminal.ended)
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

/** The stream of new requests of the first application that answers; null if none does. */
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

/** A command as it was typed. */
export interface Asked {
  operands: readonly string[]
  values: Readonly<Record<string, string | boolean | undefined>> & { url?: string; directory?: string }
  asker: Asker
  terminal: Terminal
}

interface Command {
  /** Its operands, for the help. */
  takes: string
  /** How many it needs at least, and takes at most. */
  count: readonly [number, number]
  says: string
  /** The options that it takes besides those of every command. */
  options: readonly string[]
  /** @returns the exit code */
  run: (asked: Asked) => Promise<number>
}

/** The operands of a command, by name. Optional ones come first if the last is not. */
type Names = (operands: readonly string[]) => Record<string, string | undefined>

/** A command that asks a question and prints the answer. */
function asking(question: Question, names: Names, command: Omit<Command, 'options' | 'run'>): Command {
  return {
    ...command,
    options: optionsOf(question),
    async run(asked) {
      const answer = await answerTo(question, asked, names)
      return print(asked, answer, asked.values.json === true ? jsonText(answer.data) : shown(answer.text))
    },
  }
}

function optionsOf({ parameters }: Question): string[] {
  return ['json', 'max-tokens', ...Object.keys(parameters)]
}

const oneToken: Names = ([token]) => ({ token })
const asTwoTokens: Names = operands => ({ a: operands.length > 1 ? operands[0] : undefined, b: operands.at(-1) })
const asWords: Names = words => ({ query: words.length === 0 ? undefined : words.join(' ') })

/** Every command by its name. */
export const commands: Record<string, Command> = {
  list: {
    takes: '[words]',
    count: [0, Infinity],
    says: 'requests, newest first: status:5xx failed:query route:/carts slower:100ms',
    options: optionsOf(searchQuestion),
    run: list,
  },
  show: asking(profileQuestion, ([token, panel]) => ({ token, panel }), {
    takes: '<token> [panel]',
    count: [1, 2],
    says: 'one request, or one of its panels',
  }),
  tail: { takes: '', count: [0, 0], says: 'requests as they happen', options: ['json'], run: followRequests },
  compare: asking(compareQuestion, asTwoTokens, {
    takes: '[<a>] <b>',
    count: [0, 2],
    says: 'two requests, or b with the previous of its route',
  }),
  explain: asking(explainQuestion, ([token, query]) => ({ token, query }), {
    takes: '<token> <query>',
    count: [2, 2],
    says: 'the plan of a query, by its number',
  }),
  curl: { takes: '<token>', count: [1, 1], says: 'the request as a command of curl', options: [], run: curl },
  overview: asking(overviewQuestion, () => ({}), { takes: '', count: [0, 0], says: 'what matters lately' }),
  routes: asking(routesQuestion, ([path]) => ({ path }), {
    takes: '[path]',
    count: [0, 1],
    says: 'the routes, with their lines',
  }),
  mcp: {
    takes: '',
    count: [0, 0],
    says: 'answers an agent on stdin and stdout',
    options: [],
    run: ({ asker, terminal }) => serveStdio(asker, terminal),
  },
  init: {
    takes: '',
    count: [0, 0],
    says: 'adds the profiler to the agents of this folder',
    options: ['yes'],
    run: writeEntries,
  },
}

/** The names of tools that are not those of their commands. Answers name tools. */
const toolNames = new Map([
  ['profile', 'show'],
  ['search', 'list'],
])

/** Finds a command by its name, or by that of its tool. */
export function commandOf(name: string): Command | undefined {
  const known = toolNames.get(name) ?? name
  return Object.hasOwn(commands, known) ? commands[known] : undefined
}

/** Asks a question with the operands and options that it takes. */
async function answerTo(question: Question, { asker, operands, values }: Asked, names: Names): Promise<Answer> {
  const given: Record<string, unknown> = {}
  const typed = Object.entries({ ...values, max_tokens: values['max-tokens'], ...definedOnly(names(operands)) })
  for (const [name, value] of typed) {
    const parameter = name === 'max_tokens' ? { type: 'integer' } : question.parameters[name]
    if (parameter === undefined || typeof value !== 'string') continue
    given[name] = parameter.type === 'integer' && /^\d+$/.test(value) ? Number(value) : value
  }
  return asker.ask(question, given)
}

function definedOnly(values: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function print({ terminal }: Asked, { failed = false, text }: Answer, output: string): number {
  if (failed) terminal.errors.write(`${shown(text)}\n`)
  else terminal.output.write(`${output}\n`)
  return failed ? 1 : 0
}

async function list(asked: Asked): Promise<number> {
  const answer = await answerTo(searchQuestion, asked, asWords)
  if (asked.values.json === true) return print(asked, answer, jsonText(answer.data))
  // An agent reads what is no terminal: recorded text stays in its fence.
  if (!asked.terminal.isScreen || !isSearch(answer.data)) return print(asked, answer, shown(answer.text))
  const { page, pages, problems, profiles } = answer.data
  const lines = profiles.map(summary => summaryLine(summary, asked.terminal))
  const rest = pages > page ? [`Page ${page} of ${pages}: --page ${page + 1} has the next.`] : []
  return print(asked, answer, [...problems.map(shown), ...lines, ...rest].join('\n'))
}

async function curl(asked: Asked): Promise<number> {
  const answer = await answerTo(profileQuestion, asked, oneToken)
  if (!isProfile(answer.data)) return print(asked, answer, '')
  const command = curlCommand(answer.data)
  const visible = shown(command)
  if (visible !== command) {
    asked.terminal.errors.write('fastify-profiler: Invisible characters are shown, so the command sends other ones.\n')
  }
  return print(asked, answer, visible)
}

function isSearch(data: unknown): data is SearchResult {
  return typeof data === 'object' && data !== null && 'profiles' in data
}

function isProfile(data: unknown): data is Profile {
  return typeof data === 'object' && data !== null && 'request' in data
}
