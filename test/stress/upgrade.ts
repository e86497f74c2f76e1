/** Two servers on one PostgreSQL, upgraded in turn under load and taken back: counts failed requests and additions. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openMuseumSite, Outcomes } from './museum-site.ts'
import { freePort, serve, type Served } from './serving.ts'
import { tellCounts } from './statuses.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' }, old: { type: 'string' } } })
/** Seconds of load before the first step and after each. */
const seconds = Number(values.seconds)
const lanes = 10
/** Milliseconds between a response and the next request of its lane. */
const pace = 10

const thisVersion = new URL('../../server.js', import.meta.url)
const versions = {
  // The built server of another checkout, such as that of the last release.
  old: values.old === undefined ? thisVersion : new URL(values.old, `file://${process.cwd()}/`),
  new: values.old === undefined ? new URL('newer-server.js', import.meta.url) : thisVersion,
}

const site = await openMuseumSite()
const ports: [number, number] = [await freePort(), await freePort()]
const servers: Served[] = []
const outcomes = new Outcomes()
const over = new AbortController()

try {
  for (const place of [0, 1] as const) servers[place] = await start(place, 'old')
  const load = Promise.all(Array.from({ length: lanes }, (_, lane) => use(lane)))
  await sleep(seconds * 1000)
  tell('both old')
  for (const [version, place] of [
    ['new', 0],
    ['new', 1],
    ['old', 0],
    ['old', 1],
  ] as const) {
    await servers[place]?.close()
    servers[place] = await start(place, version)
    await sleep(seconds * 1000)
    tell(`server ${place + 1} ${version}`)
  }
  over.abort()
  await load
  const { rows } = await site.client.query("select count(*)::integer as kept from museums where name like 'Upgrade %'")
  console.log(`${rows[0].kept} of ${outcomes.added.length} additions kept`)
  if (outcomes.errors.size > 0 || rows[0].kept !== outcomes.added.length) process.exitCode = 1
} finally {
  over.abort()
  for (const server of servers) await server.close()
  await site.close()
}

async function start(place: 0 | 1, version: keyof typeof versions): Promise<Served> {
  return await serve({ ...site.environment(), PORT: String(ports[place]) }, versions[version])
}

/** Sends requests until the end, every second one a museum to add. */
async function use(lane: number): Promise<void> {
  for (let turn = 0; !over.signal.aborted; turn++) {
    const museum = turn % 2 === 0 ? undefined : `Upgrade ${lane}.${turn}`
    outcomes.add(museum, await askEither(museum, turn % 4 < 2 ? ports : [ports[1], ports[0]]))
    await sleep(pace)
  }
}

/** Asks the first server or, as proxies do while it restarts, the second. */
async function askEither(museum: string | undefined, [first, second]: [number, number]): Promise<number | string> {
  const outcome = await site.ask(first, museum)
  return outcome === 'ECONNREFUSED' ? await site.ask(second, museum) : outcome
}

function tell(step: string): void {
  console.log(
    `${step.padEnd(12)} ${outcomes.answered} requests answered, errors: ${tellCounts(outcomes.errors) || '0'}`,
  )
}
