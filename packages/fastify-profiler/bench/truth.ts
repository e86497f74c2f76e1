/**
 * How true the profiler's findings are: applications with planted problems and with healthy routes run on PostgreSQL,
 * and on MariaDB and Redis where they can be reached. Each route is judged from outside, by the overview and by one
 * profile. Prints for each kind of problem how many were found, missed, and said of a healthy route.
 */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { applications } from './truth/applications.ts'
import { type Case, type Kind, kinds } from './truth/case.ts'
import { judgePairs, marks } from './truth/pairs.ts'
import { judgePlans } from './truth/plans.ts'
import { ask, send, start } from './truth/running.ts'

const { values } = parseArgs({ options: { show: { type: 'string' } } })

/** Requests of each route. What a busy machine makes of one of them is not said of the others. */
const turns = 4

/** Milliseconds until the last of what comes after a response has come. */
const latest = 4000

/** Chance must not decide what is said of a pair. */
const pairRuns = 3

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
let plans = new Map<string, string[]>()
const pairsSaid: Awaited<ReturnType<typeof judgePairs>> = []
try {
  plans = await judgePlans()
  for (let run = 0; run < pairRuns; run++) {
    const env = { TRUTH_FOLDER: join(folder, `pairs-${run}`), TRUTH_ID: `${process.pid}_pairs_${run}` }
    pairsSaid.push(...(await judgePairs(env)))
  }
  for (const [index, [name, cases]] of Object.entries(applications).entries()) {
    verdicts.push(...(await judge(name, index, cases)))
  }
} finally {
  neighbour.disconnect()
  rmSync(folder, { recursive: true })
}
print()

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
  for (const { atOnce = 1, isFatal, name: path } of cases) {
    const sent: string[] = []
    for (let turn = 0; turn < turns; turn++) {
      const some = await Promise.all(Array.from({ length: atOnce }, () => send(`${origin}/${path}`)))
      sent.push(...some.slice(-1))
    }
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
  console.log(row(['pairs', 'all', 'held', 'not', '', '']))
  for (const { holds, least, of, what } of marks) {
    const those = pairsSaid.filter(({ pair }) => of(pair))
    const failed = those.filter(said => !holds(said))
    const names = failed.map(({ change, pair, sureness }) => `${pair.name}: ${change}, ${sureness}`)
    const isMet = (those.length - failed.length) / those.length >= least
    console.log(
      row([
        what,
        those.length,
        those.length - failed.length,
        failed.length,
        isMet ? 'met' : 'MISSED',
        names.join('; '),
      ]),
    )
  }
  const [load = 0] = loadavg()
  if (load > availableParallelism()) {
    console.log(`The machine is busy (load ${load.toFixed(1)}): the times of pairs drift.`)
  }
  const wrong = [...plans].filter(([, complaints]) => complaints.length > 0)
  const complaints = wrong.map(([text, [first]]) => `${text}: ${first}`).join('; ')
  console.log(row(['plans', plans.size, plans.size - wrong.length, wrong.length, '', complaints]))
  console.log(`${healthy.length} healthy routes, ${Math.round((performance.now() - began) / 1000)} s`)
  for (const { planted, text } of verdicts) if (planted.name === values.show) console.log(text)
}

function row(cells: ReadonlyArray<string | number>): string {
  return cells.map((cell, index) => String(cell).padEnd(index === 0 ? 44 : index < 5 ? 9 : 0)).join('')
}
