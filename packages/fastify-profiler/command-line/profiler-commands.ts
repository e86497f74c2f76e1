import { compareQuestion } from '../ask/ask-compare.ts'
import { explainQuestion } from '../ask/ask-explain.ts'
import { overviewQuestion } from '../ask/ask-overview.ts'
import { profileQuestion } from '../ask/ask-profile.ts'
import { routesQuestion } from '../ask/ask-routes.ts'
import { searchQuestion } from '../ask/ask-search.ts'
import type { Answer, Question } from '../ask/question.ts'
import { shown } from '../ask/answer-text.ts'
import type { Profile } from '../base/profile.ts'
import type { SearchResult } from '../base/summary.ts'
import { curlCommand } from '../show/parts/curl-command.ts'
import type { Asker } from './asker.ts'
import { writeEntries } from './agent-entries.ts'
import { jsonText } from './json-text.ts'
import { serveStdio } from './serve-stdio.ts'
import { summaryLine } from './summary-line.ts'
import { followRequests } from './follow-requests.ts'
import type { Terminal } from './terminal.ts'

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
    says: 'requests, newest first: status:5xx route:/carts slower:100ms',
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
