import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import profiler from '../index.ts'

// How long a failed request takes until its error page is there: the first of a process, and the quickest of all.

const directory = mkdtempSync(join(tmpdir(), 'profiler-bench-'))
const app = Fastify()
await app.register(profiler, { directory })
app.get('/broken', async () => {
  throw new Error('it broke')
})
await app.ready()
const times: number[] = []
for (let page = 0; page < 100; page++) {
  const before = performance.now()
  await app.inject({ url: '/broken', headers: { accept: 'text/html' } })
  times.push(performance.now() - before)
}
console.log(`first ${times[0]?.toFixed(1)} ms, quickest ${Math.min(...times).toFixed(1)} ms (mark: 20 ms)`)
await app.close()
rmSync(directory, { recursive: true })
