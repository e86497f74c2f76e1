/** Show 5: hostile clients against a server in its own process. `npm run show:fuzz -- --count=100000 --seed=1` */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { lingering } from '../../src/serving/limits.ts'
import { fuzz } from './hostile-clients.ts'
import { hostileExchange } from './hostile-requests.ts'
import { startServer } from './server-process.ts'
import { tellCounts } from './statuses.ts'
import { megabytes, type Usage } from './usage.ts'

const { values } = parseArgs({
  options: { count: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
})
const [count, seed] = [Number(values.count), Number(values.seed)]

const server = await startServer({})
try {
  // Warms up, so that compiled code and permanent caches are there.
  await fuzz(server.port, Math.ceil(count / 20), seed + count)
  await sleep(2 * lingering)
  const before = await server.usage()
  const began = performance.now()
  const { exchanges, statuses, unanswered, hangs, faults, garbled, miscounted } = await fuzz(server.port, count, seed)
  const seconds = (performance.now() - began) / 1000
  // As long as the server waits for clients that keep their half open.
  await sleep(2 * lingering)
  const after = await server.usage()
  console.log(
    `requests ${exchanges} in ${seconds.toFixed(0)} s, answers ${tellCounts(statuses)}, closed without an answer ${unanswered}, crashes ${server.hasEnded() ? 1 : 0}, hangs ${hangs.length}, faults ${faults.length}, not HTTP ${garbled.length}, answers lost or duplicated ${miscounted.length}`,
  )
  console.log(`before ${tell(before)}`)
  console.log(`after  ${tell(after)}`)
  const found = [...hangs, ...faults, ...garbled, ...miscounted]
  for (const seed of found.slice(0, 10)) {
    console.log(`seed ${seed}: ${JSON.stringify(hostileExchange(seed)).slice(0, 2000)}`)
  }
  process.exitCode = found.length === 0 ? 0 : 1
} finally {
  await server.stop()
}

function tell({ heap, resident, descriptors }: Usage): string {
  return `heap ${megabytes(heap)}, resident ${megabytes(resident)}, descriptors ${descriptors}`
}
