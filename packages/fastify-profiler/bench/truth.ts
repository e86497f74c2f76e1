/**
 * How true the profiler's findings are: applications with planted problems and with healthy routes run on PostgreSQL,
 * and on MariaDB and Redis where they can be reached. Each route is judged from outside, by the overview and by one
 * profile. Prints for each kind of problem how many were found, missed, and said of a healthy route.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { applications } from './truth/applications.ts'
import { type Case, type Kind, kinds } from './truth/case.ts'

const { values } = parseArgs({ options: { show: { type: 'string' } } })

/** Requests of each route. What a busy machine makes of one of them is not said of the others. */
const turns = 4

/** Milliseconds until the last of what comes after a response has come. */
const latest = 4000

/** What was said of a route. */
interface Verdict {
  planted: Case
  /** The kinds of problems that it is said to have. */
  said: Kind[]
  /** Whether the planted one is among them, with its line. */
  isFound: boolean
  text: string
}

const folder = mkdtempSync(join(tmpdir(), 'profiler-truth-'))
const neighbour = start('neighbour', {})
const [neighbourOrigin] = await once(neighbour, 'message')
const began = performance.now()
const verdicts: Verdict[] = []
try {
  for (const [index, [name, cases]] of Object.entries(applications).entries()) {
    verdicts.push(...(await judge(name, index, cases)))
  }
} finally {
  neighbour.disconnect()
  rmSync(folder, { recursive: true })
}
print()

function start(module: string, env: Record<string, string>): ChildProcess {
  return fork(join(import.meta.dirname, 'truth', `${module}.js`), {
    execArgv: ['--enable-source-maps'],
    env: { ...process.env, ...env },
  })
}

/** Starts one of the applications. */
async function open(name: string, index: number) {
  const application = start('application', {
    NEIGHBOUR: String(neighbourOrigin),
    TRUTH_APPLICATION: name,
    TRUTH_FOLDER: join(folder, String(index)),
    TRUTH_ID: `${process.pid}_${index}`,
  })
  const [{ missing, origin }] = await once(application, 'message')
  return { application, missing, origin }
}

async function judge(name: string, index: number, cases: readonly Case[]): Promise<Verdict[]> {
  let { application, missing, origin } = await open(name, index)
  if (missing.includes(name)) {
    console.log(`Nothing is tried on ${name}, which cannot be reached.`)
    cases = []
  }
  const tokens: string[][] = []
  for (const { isFatal, name: path } of cases) {
    const sent: string[] = []
    for (let turn = 0; turn < turns; turn++) sent.push(await send(`${origin}/${path}`))
    // The first request opens connections, and compiles.
    tokens.push(sent.slice(1))
    if (!isFatal) continue
    await once(application, 'exit')
    ;({ application, missing, origin } = await open(name, index))
  }
  if (cases.some(({ expects }) => expects === 'after the response')) await setTimeout(latest)
  const overview = troublesIn(await ask(origin, 'overview', { max_tokens: 20_000 }))
  const verdicts: Verdict[] = []
  for (const [place, planted] of cases.entries()) {
    const about = new RegExp(`GET /${planted.name}(?![\\w-])`)
    const troubles = overview.filter(line => about.test(line))
    const profiles: string[] = []
    for (const token of tokens[place] ?? []) profiles.push(await ask(origin, 'profile', { token, max_tokens: 20_000 }))
    verdicts.push(verdictOf(planted, troubles, profiles))
  }
  application.send('close')
  await once(application, 'exit')
  return verdicts
}

async function send(url: string): Promise<string> {
  const response = await fetch(url)
  await response.text()
  return response.headers.get('x-debug-token') ?? ''
}

/** Asks as an agent does. */
async function ask(origin: string, tool: string, given: object): Promise<string> {
  const response = await fetch(`${origin}/_profiler/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: given } }),
  })
  const { result } = (await response.json()) as { result: { content: Array<{ text: string }> } }
  return result.content.map(({ text }) => text.replaceAll('\\', '')).join('')
}

/** The troubles of an overview, a line each. */
function troublesIn(overview: string): string[] {
  const [, troubles = ''] = /\n## Troubles\n(.*?)(?:\n## |$)/s.exec(overview) ?? []
  return troubles.split('\n')
}

function verdictOf(planted: Case, troubles: readonly string[], profiles: readonly string[]): Verdict {
  const { at, expects, name } = planted
  // Only claims accuse: findings, and what is said before them.
  const texts = profiles.map(profile => {
    const [telling = ''] = profile.split('\n### Slowest calls')
    return [...troubles, telling].join('\n').replaceAll(name, '')
  })
  const said = (Object.keys(kinds) as Kind[]).filter(kind => texts.every(text => kinds[kind].test(text)))
  const hasLine = at === undefined || texts.every(text => text.includes(`:${lineOf(at)}`))
  const isFound = expects !== null && said.includes(expects) && hasLine
  return { planted, said, isFound, text: [...troubles, profiles.at(-1)].join('\n') }
}

/** The line of the planted problems that ends with a comment. */
function lineOf(comment: string): number {
  const file = join(import.meta.dirname, '../../bench/truth/plain-pg.ts')
  return (
    readFileSync(file, 'utf8')
      .split('\n')
      .findIndex(line => line.endsWith(`// ${comment}`)) + 1
  )
}

function print(): void {
  const planted = verdicts.filter(({ planted }) => planted.expects !== null)
  const healthy = verdicts.filter(({ planted }) => planted.expects === null)
  const falseOf = (kind: Kind) => healthy.filter(({ said }) => said.includes(kind))
  const name = ({ planted }: Verdict) => planted.name
  console.log(row(['kind', 'planted', 'found', 'missed', 'false', '']))
  for (const kind of Object.keys(kinds) as Kind[]) {
    const those = planted.filter(({ planted }) => planted.expects === kind)
    const missed = those.filter(({ isFound }) => !isFound)
    const accused = falseOf(kind)
    const names = [...missed.map(name), ...accused.map(verdict => `accused: ${name(verdict)}`)].join(', ')
    console.log(row([kind, those.length, those.length - missed.length, missed.length, accused.length, names]))
  }
  const found = planted.filter(({ isFound }) => isFound).length
  const accused = healthy.filter(({ said }) => said.length > 0).length
  console.log(row(['all', planted.length, found, planted.length - found, accused, '']))
  console.log(`${healthy.length} healthy routes, ${Math.round((performance.now() - began) / 1000)} s`)
  for (const { planted, text } of verdicts) if (planted.name === values.show) console.log(text)
}

function row(cells: ReadonlyArray<string | number>): string {
  return cells.map((cell, index) => String(cell).padEnd(index === 0 ? 20 : index < 5 ? 9 : 0)).join('')
}
