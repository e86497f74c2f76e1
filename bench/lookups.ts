/** Measures license lookups among 1,000, 100,000 and 1,000,000 licenses, and the memory of 100,000 cached hosts. */
import { openDatabase } from '../src/database/database.ts'
import { createEntities } from '../src/entities.ts'
import { EntityCache } from '../src/cache/entity-cache.ts'
import { dropDatabase, environmentOf, makeDatabase } from './bench-database.ts'
import { quantile } from './quantile.ts'

const lookups = 5000
const warmHosts = 100_000
const concurrent = 16
const megabyte = 1e6

console.log(`Node ${process.versions.node}: ${lookups} lookups of random uncached hosts, one after another`)
console.log('  licenses    p50 µs    p99 µs  µs of CPU')
for (const licenses of [1000, 100_000, 1_000_000]) {
  const bench = await makeDatabase(licenses)
  try {
    const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = environmentOf(bench)
    const database = await openDatabase({ databaseUrl, dataDir })
    try {
      const cache = new EntityCache()
      const { licenses: segment, languages } = createEntities(database.db, cache)
      const times: number[] = []
      let before = process.cpuUsage()
      // The lookups below 0 warm up the code and the database's pages.
      for (let lookup = -lookups; lookup < lookups; lookup++) {
        if (lookup === 0) before = process.cpuUsage()
        const host = hostOf(Math.random() * licenses)
        // Only this host, because forgetting all of them costs more than a lookup.
        segment.forget(host)
        const began = performance.now()
        await segment.read(host)
        if (lookup >= 0) times.push((performance.now() - began) * 1000)
      }
      const { user, system } = process.cpuUsage(before)
      printRow(licenses, quantile(times, 0.5), quantile(times, 0.99), (user + system) / lookups)
      if (licenses >= warmHosts) await warm(segment, languages, licenses)
    } finally {
      await database.close()
    }
  } finally {
    await dropDatabase(bench)
  }
}

type Entities = ReturnType<typeof createEntities>

async function warm(licenses: Entities['licenses'], languages: Entities['languages'], count: number): Promise<void> {
  licenses.forget(null)
  languages.forget(null)
  const before = await heapUsed()
  let next = 0
  const began = performance.now()
  await Promise.all(
    Array.from({ length: concurrent }, async () => {
      while (next < warmHosts) await licenses.read(hostOf((next++ * count) / warmHosts))
    }),
  )
  const seconds = (performance.now() - began) / 1000
  const after = await heapUsed()
  const heldBefore = process.cpuUsage()
  let held = 0
  for (let host = 0; host < warmHosts; host++) {
    const license = licenses.read(hostOf((host * count) / warmHosts))
    if (license instanceof Promise) await license
    else held++
  }
  const { user, system } = process.cpuUsage(heldBefore)
  console.log(
    `            ${held} of ${warmHosts} hosts cached after ${seconds.toFixed(1)} s, ` +
      `in ${((after - before) / megabyte).toFixed(0)} MB; ` +
      `reading one takes ${((user + system) / warmHosts).toFixed(2)} µs of CPU`,
  )
}

function hostOf(number: number): string {
  return `cold-${Math.floor(number)}.example`
}

/** The size of the heap after garbage collection, in bytes. */
async function heapUsed(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc.')
  globalThis.gc()
  await new Promise(resolve => setImmediate(resolve))
  globalThis.gc()
  return process.memoryUsage().heapUsed
}

function printRow(...numbers: [licenses: number, ...microseconds: number[]]): void {
  const [licenses, ...rest] = numbers
  console.log([String(licenses).padStart(10), ...rest.map(number => number.toFixed(0).padStart(10))].join(''))
}
