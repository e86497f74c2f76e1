import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { createInterface as createQuestions } from 'node:readline/promises'
import type { Command, Terminal, TypedCommand } from '../../core/feature.ts'
import { attempt, isRecord } from '../../core/foreign-value.ts'

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
async function writeEntries({ terminal, values }: TypedCommand): Promise<number> {
  const { errors, folder, isInteractive, output } = terminal
  const found = agents.filter(({ signs }) => signs.some(sign => existsSync(join(folder, sign))))
  if (found.length === 0) {
    output.write(`No agent is known here. Add this server to yours:\n${JSON.stringify({ [name]: entry }, null, 2)}\n`)
    return 0
  }
  if (values.yes !== true && !isInteractive) {
    errors.write('fastify-profiler: init asks before it writes, and there is nobody to ask. Use --yes.\n')
    return 2
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
  const answer = isAgreed ? 'yes' : await confirm(`Add ${name} to ${file}?`, terminal)
  if (answer === null) return null
  if (!/^y(?:es)?$/i.test(answer.trim())) return `${file} stays as it is.`
  mkdirSync(dirname(path), { recursive: true })
  const changed = { ...settings, [key]: { ...servers, [name]: entry } }
  writeFileSync(path, `${JSON.stringify(changed, null, /^[ \t]+/m.exec(text)?.[0] ?? 2)}\n`)
  return `${file} has ${name} now.`
}

/** @returns the answer; null for Ctrl-C, Ctrl-D and the end of the input */
async function confirm(question: string, { input, output }: Terminal): Promise<string | null> {
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
async function serveStdio({ ask, terminal: { errors, input, output } }: TypedCommand): Promise<number> {
  const { answerMessage } = await import('./mcp-messages.ts')
  const answering = {
    ask,
    complain: (error: unknown) => errors.write(`fastify-profiler: ${String(error)}\n`),
  }
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.trim() === '') continue
    const { message } = await answerMessage(line, null, answering)
    if (message !== null) output.write(`${JSON.stringify(message)}\n`)
  }
  return 0
}

export const agentCommands: Record<string, Command> = {
  mcp: { takes: '', says: 'answers an agent on stdin and stdout', options: [], run: serveStdio },
  init: {
    takes: '',
    says: 'adds the profiler to the agents of this folder',
    options: ['yes'],
    run: writeEntries,
  },
}
