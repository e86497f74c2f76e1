/** PostgreSQL stopped under steady load: how requests are answered meanwhile, and how soon the server recovers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { LoadConnection, requestText } from '../../bench/load-connection.ts'
import { dropDatabase, environmentOf, makeDatabase } from '../../bench/bench-database.ts'
import { quantile } from '../../bench/quantile.ts'
import { makeCluster } from './cluster.ts'
import { serve, statusOf } from './serving.ts'
import { count, tellCounts } from './statuses.ts'

const [, , stated = '60'] = process.argv
const secondsLost = Number(stated)
const secondsBefore = 10
const secondsAfter = 10
const knownHosts = 1000
/** Milliseconds between two requests. One in five is for a host not asked for before. */
const pace = 5
/** Milliseconds after which a request counts as hung. */
const patience = 15_000

interface Outcome {
  phase: string
  isKnown: boolean
  /** hung, or broken: the server closed the connection. */
  status: number | 'hung' | 'broken'
  time: number
  at: number
}

const cluster = await makeCluster()
process.env['BENCH_DATABASE_URL'] = cluster.url
const bench = await makeDatabase(knownHosts)
const server = await serve(environmentOf(bench))
const outcomes: Outcome[] = []
const idle: LoadConnection[] = []
const asking = new Set<Promise<void>>()
let phase = 'warm-up'
let asked = 0
try {
  for (let host = 0; host < knownHosts; host++) await ask(`cold-${host}.example`, true)
  const load = setInterval(() => {
    const isKnown = asked++ % 5 !== 0
    const request = ask(isKnown ? `cold-${asked % knownHosts}.example` : `${asked}.unknown.example`, isKnown)
    asking.add(request)
    void request.finally(() => asking.delete(request))
  }, pace)
  phase = 'before'
  await sleep(secondsBefore * 1000)
  phase = 'lost'
  cluster.stop()
  await sleep(secondsLost * 1000)
  cluster.start()
  const back = performance.now()
  phase = 'back'
  await sleep(secondsAfter * 1000)
  clearInterval(load)
  await Promise.all(asking)

  for (const phase of ['before', 'lost', 'back']) for (const isKnown of [true, false]) print(phase, isKnown)
  const recovered = outcomes.find(({ at, isKnown, status }) => at > back && !isKnown && status === 404)
  const refused = outcomes.filter(({ at, status }) => at > back && status === 503).at(-1)
  console.log(
    `PostgreSQL was stopped for ${secondsLost} s. Since it accepted connections again: first answer to an unknown host after ${since(recovered)}, last 503 after ${since(refused)}.`,
  )
  const hung = outcomes.filter(({ status }) => status === 'hung' || status === 'broken').length
  console.log(
    `requests that hung or whose connection broke: ${hung}; the server ${server.isAlive() ? 'is running' : 'has exited'}`,
  )
  if (hung > 0 || !server.isAlive() || recovered === undefined) process.exitCode = 1

  function since(outcome: Outcome | undefined): string {
    return outcome === undefined ? '(never)' : `${(outcome.at - back).toFixed(0)} ms`
  }
} finally {
  await server.close()
  await dropDatabase(bench)
  cluster.remove()
}

/** Each request has its own connection until it is answered, so that none waits for another. */
async function ask(host: string, isKnown: boolean): Promise<void> {
  const connection = idle.pop() ?? new LoadConnection(server.port)
  const began = performance.now()
  const asked = phase
  const late = AbortSignal.timeout(patience)
  const hanging = new Promise<'hung'>(resolve => late.addEventListener('abort', () => resolve('hung')))
  const status = await Promise.race([
    connection.ask(requestText('/', { host })).then(statusOf, (): 'broken' => 'broken'),
    hanging,
  ])
  const at = performance.now()
  outcomes.push({ phase: asked, isKnown, status, time: at - began, at })
  if (typeof status === 'number') idle.push(connection)
  else connection.close()
}

function print(phase: string, isKnown: boolean): void {
  const some = outcomes.filter(outcome => outcome.phase === phase && outcome.isKnown === isKnown)
  const counts = new Map<Outcome['status'], number>()
  for (const { status } of some) count(counts, status)
  const times = some.map(({ time }) => time)
  console.log(
    `${phase.padEnd(6)} ${isKnown ? 'known  ' : 'unknown'} hosts: ${String(some.length).padStart(6)} requests: ${tellCounts(counts)}; p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms, slowest ${Math.max(...times).toFixed(0)} ms`,
  )
}
