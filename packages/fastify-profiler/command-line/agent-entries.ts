import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { attempt, isRecord } from '../base/foreign-value.ts'
import type { Asked } from './profiler-commands.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'

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
export async function writeEntries({ terminal, values }: Asked): Promise<number> {
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
  const reader = createInterface({ input, output })
  const [asked] = await Promise.allSettled([
    Promise.race([reader.question(`${question} [y/N] `), once(reader, 'close').then(() => null)]),
  ])
  reader.close()
  if (asked.status === 'fulfilled' && asked.value !== null) return asked.value
  output.write('\n')
  return null
}
