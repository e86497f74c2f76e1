import { performance } from 'node:perf_hooks'
import Fastify from 'fastify'
import { profiled } from '../testing.ts'

// What profiling a request adds to an inject in a test, its profile being read included.

const turns = 40
const requests = 50

function build() {
  const app = Fastify()
  for (let n = 0; n < 10; n++) app.addHook('onRequest', async function hook() {})
  app.get('/', async () => ({ hello: 'world' }))
  return app
}

async function timeOf(inject: (path: string) => Promise<unknown>): Promise<number> {
  const before = performance.now()
  for (let n = 0; n < requests; n++) await inject('/')
  return (performance.now() - before) / requests
}

const [plain, watched] = [build(), build()]
const { inject } = profiled(watched)
let [least, leastProfiled] = [Infinity, Infinity]
for (let turn = 0; turn < turns; turn++) {
  least = Math.min(least, await timeOf(path => plain.inject(path)))
  leastProfiled = Math.min(leastProfiled, await timeOf(path => inject(path)))
}
console.log(
  `plain ${least.toFixed(3)} ms, profiled ${leastProfiled.toFixed(3)} ms: +${(leastProfiled - least).toFixed(3)} ms`,
)
await Promise.all([plain.close(), watched.close()])
