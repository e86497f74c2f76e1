import { once } from 'node:events'
import { ask, send, start } from './running.ts'

export type Work = 'io' | 'timer' | 'cpu' | 'index'

/** Requests of one route before and after a change. */
interface Pair {
  name: string
  work: Work
  /** How much longer its work takes after the change. */
  factor: number
  /** Requests on each side. */
  size: number
  /** Whether the application starts again with the change. */
  restarts: boolean
}

const factors = [1, 0.9, 1.1, 0.7, 1.3, 2, 0.5]
const sizes = [1, 3, 5, 10]

export const pairs: readonly Pair[] = [
  ...(['io', 'timer', 'cpu'] as const).flatMap(work =>
    factors.flatMap(factor => sizes.map(size => ({ work, factor, size }))),
  ),
  // After the index is made, the same work takes a fraction.
  ...sizes.map(size => ({ work: 'index' as const, factor: 0.1, size })),
].map((pair, index) => ({
  ...pair,
  name: `${pair.work}-${pair.factor}-${pair.size}`,
  restarts: pair.work !== 'index' && index % 2 === 0,
}))

/** What was said of a pair. */
interface Said {
  pair: Pair
  sureness: 'certain' | 'seen' | 'equal'
  change: 'slower' | 'faster' | 'none'
}

/** Sends all pairs, with the change and the restart between their sides, and compares them as an agent does. */
export async function judgePairs(env: Record<string, string>): Promise<Said[]> {
  const run = async (changed: 'yes' | 'no') => {
    const application = start('paired', { ...env, TRUTH_CHANGED: changed })
    const [origin] = await once(application, 'message')
    await send(`${origin}/warm-up`)
    return { application, origin: String(origin) }
  }
  const stop = async ({ application }: Awaited<ReturnType<typeof run>>, message: 'stop' | 'end') => {
    application.send(message)
    await once(application, 'exit')
  }
  const first = await run('no')
  const before = await sendAll(first.origin, pairs)
  first.application.send('change')
  await once(first.application, 'message')
  const after = await sendAll(
    first.origin,
    pairs.filter(({ restarts }) => !restarts),
  )
  await stop(first, 'stop')
  const second = await run('yes')
  for (const [name, token] of await sendAll(
    second.origin,
    pairs.filter(({ restarts }) => restarts),
  )) {
    after.set(name, token)
  }
  const said: Said[] = []
  for (const pair of pairs) {
    const { name, restarts } = pair
    // By default, a is a request from before the last start.
    const given = { b: after.get(name), ...(!restarts && { a: before.get(name) }) }
    const [lead = ''] = (await ask(second.origin, 'compare', given)).split('\n')
    const sureness = /, certain: /.test(lead) ? 'certain' : /, equal: /.test(lead) ? 'equal' : 'seen'
    const change = /slower|longer/.test(lead) ? 'slower' : /faster|less/.test(lead) ? 'faster' : 'none'
    said.push({ pair, sureness, change })
  }
  await stop(second, 'end')
  return said
}

/** Sends the requests of all pairs, in turn. @returns the token of each pair's last */
async function sendAll(origin: string, some: readonly Pair[]): Promise<Map<string, string>> {
  const last = new Map<string, string>()
  for (let turn = Math.max(...sizes); turn > 0; turn--) {
    for (const { name, size } of some) if (turn <= size) last.set(name, await send(`${origin}/${name}`))
  }
  return last
}

/** What must hold of some pairs, by what was said of all of them. */
interface Mark {
  what: string
  of: (pair: Pair) => boolean
  holds: (said: Said) => boolean
  /** The part of them for which it has to hold. */
  least: number
}

const rightWay = ({ change, pair: { factor } }: Said) => change === (factor > 1 ? 'slower' : 'faster')
const isDouble = ({ factor }: Pair) => factor === 2 || factor <= 0.5

export const marks: readonly Mark[] = [
  { what: 'equal, not called different', of: ({ factor }) => factor === 1, holds: isUndecided, least: 1 },
  {
    what: '+100 % and −50 %, certain with 5 and more',
    of: pair => isDouble(pair) && pair.size >= 5,
    holds: said => said.sureness === 'certain' && rightWay(said),
    least: 1,
  },
  {
    what: '+100 % and −50 %, seen with 1',
    of: pair => isDouble(pair) && pair.size === 1,
    holds: said => said.sureness === 'seen' && rightWay(said),
    least: 1,
  },
  {
    what: '±30 %, certain with 10',
    of: ({ factor, size }) => (factor === 1.3 || factor === 0.7) && size === 10,
    holds: said => said.sureness === 'certain' && rightWay(said),
    least: 0.9,
  },
  {
    what: 'never the wrong way',
    of: ({ factor }) => factor !== 1,
    holds: said => isUndecided(said) || rightWay(said),
    least: 1,
  },
]

function isUndecided({ change, sureness }: Said): boolean {
  return sureness !== 'certain' || change === 'none'
}
