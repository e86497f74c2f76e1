/** Show 4: everything a server does, for ten minutes. `npm run show:soak -- --minutes=10` */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { lingering } from '../../src/serving/limits.ts'
import { startServer } from './server-process.ts'
import { fill, soak } from './all-uses.ts'
import { tellCounts } from './statuses.ts'
import { megabytes, type Usage } from './usage.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, lanes: { type: 'string', default: '8' } },
})
const duration = Number(values.minutes) * 60_000
/** A tenth of the time, in which code is compiled. */
const warmUp = duration / 10
/** More than the store of profiles can hold. */
const profiles = 12_000
const interval = 5000

const server = await startServer({ DEBUG: '1', TRUST_PROXY: 'loopback' })
try {
  const first = await server.usage()
  await fill(server.port, profiles, Number(values.lanes))
  // Includes the pool's connections, which open on demand.
  const { descriptors } = await server.usage()
  const samples: Array<Usage & { hours: number }> = []
  const began = performance.now()
  const elapsed = () => performance.now() - began
  const [statuses] = await Promise.all([soak(server.port, () => elapsed() < duration, Number(values.lanes)), sample()])
  await sleep(2 * lingering)
  const last = await server.usage()
  const answers = [...statuses.values()].reduce((sum, number) => sum + number, 0)
  console.log(`answers ${answers} in ${values.minutes} min: ${tellCounts(statuses)}`)
  // On a busy machine, turns of the event loop may be too long.
  if ([...statuses.keys()].some(status => status >= 500 && status !== 503)) process.exitCode = 1
  for (const name of ['heap', 'resident'] as const) {
    const since = (milliseconds: number) => samples.filter(({ hours }) => hours * 3_600_000 >= milliseconds)
    const slope = (settled: typeof samples) =>
      slopeOf(settled.map(sample => [sample.hours, sample[name] / 2 ** 20])).toFixed(1)
    const settled = since(warmUp)
    console.log(
      `${name}: ${slope(settled)} MB/h after the first tenth, ${slope(since(duration / 2))} in the second half, by least squares over ${settled.length} samples; ${megabytes(first[name])} at start, ${megabytes(settled[0]?.[name])} after the first tenth, ${megabytes(last[name])} at the end`,
    )
  }
  console.log(`descriptors: ${descriptors} before, ${last.descriptors} after`)
  // The embedded database opens its files on demand.
  if (last.descriptors - descriptors >= 30) process.exitCode = 1

  async function sample(): Promise<void> {
    while (elapsed() < duration) {
      await sleep(interval)
      samples.push({ hours: elapsed() / 3_600_000, ...(await server.usage()) })
    }
  }
} finally {
  await server.stop()
}

/** The growth of y per x, by least squares. */
function slopeOf(points: ReadonlyArray<readonly [x: number, y: number]>): number {
  const mean = (place: 0 | 1) => points.reduce((sum, point) => sum + point[place], 0) / points.length
  const [meanX, meanY] = [mean(0), mean(1)]
  const [products, squares] = points.reduce(
    ([products, squares], [x, y]) => [products + (x - meanX) * (y - meanY), squares + (x - meanX) ** 2],
    [0, 0],
  )
  return products / squares
}
