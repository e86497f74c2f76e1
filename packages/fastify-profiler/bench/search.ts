/** The cost of a search over 1,000, 10,000 and 100,000 profiles. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { profileVersion } from '../core/profile.ts'
import type { ProfileSummary } from '../core/summary.ts'
import { ProfileStore } from '../core/store/profile-store.ts'
import { overviewOf } from '../features/home/overview.ts'

const searches = 25
/** About the size of a profile for a request with 10 hooks and 5 queries. */
const profileBytes = 5000

const criteria = {
  newest: {},
  'status 4xx': { status: '4xx' },
  'URL, rare': { url: '/rare' },
  'nothing found': { url: '/nowhere', method: 'GET' },
  'a license, page 5': { labels: { license: 'Museum 7' }, page: 5 },
}

console.log(
  `Node ${process.versions.node}: ms for a search, p50 and p99 of ${searches}; the first search by another process reads the folder`,
)
console.log(['profiles', 'first', 'home', ...Object.keys(criteria)].map(name => name.padStart(18)).join(''))
for (const profiles of [1000, 10_000, 100_000]) {
  const directory = mkdtempSync(join(tmpdir(), 'profiler-bench-'))
  try {
    // The profiler keeps 10,000 profiles by default. Raised bounds allow searches over more.
    const options = {
      directory,
      bounds: { profiles: 200_000, bytes: 4e9, age: 7 * 24 * 60 * 60 * 1000 },
      complain: (error: unknown) => {
        throw error
      },
    }
    const writer = new ProfileStore(options)
    for (let number = 0; number < profiles; number++) {
      const summary = summaryOf(number)
      writer.write(summary, [
        JSON.stringify({ version: profileVersion, token: summary.token, padding: 'x'.repeat(profileBytes) }),
        '[]',
      ])
    }
    writer.flush()
    const reader = new ProfileStore(options)
    const first = timeOf(() => reader.search({}))
    const columns = Object.values(criteria).map(wanted => {
      const times = Array.from({ length: searches }, () => timeOf(() => reader.search(wanted)))
      return `${quantile(times, 0.5).toFixed(1)} / ${quantile(times, 0.99).toFixed(1)}`
    })
    const home = Array.from({ length: searches }, () => timeOf(() => overviewOf(reader.summaries(), 0)))
    const overview = `${quantile(home, 0.5).toFixed(1)} / ${quantile(home, 0.99).toFixed(1)}`
    console.log([String(profiles), first.toFixed(0), overview, ...columns].map(cell => cell.padStart(18)).join(''))
    writer.close()
    reader.close()
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function timeOf(search: () => unknown): number {
  const began = performance.now()
  search()
  return performance.now() - began
}

function summaryOf(number: number): ProfileSummary {
  return {
    token: `token-${number}`,
    parent: null,
    time: Date.now(),
    duration: number % 97,
    status: number % 10 === 0 ? 404 : 200,
    outcome: 'completed',
    method: 'GET',
    url: number % 1000 === 0 ? '/rare' : `/museums/${number}?page=${number % 7}`,
    host: `museum-${number % 50}.example`,
    ip: '127.0.0.1',
    route: '/museums/:id',
    exception: number % 10 === 0 ? 'NotFoundHttpError: No route found' : null,
    logErrors: 0,
    queries: { count: 3, duration: 4.5 },
    statements: [0, 1, 2].map(at => ({
      sql: `select * from museums where id = $${at + (number % 20)}`,
      count: 1,
      duration: at,
      slowest: at,
    })),
    repeated: 0,
    times: [
      ['sql', 4.5],
      ['hook', number % 30],
    ],
    size: 5120,
    labels: { license: `Museum ${number % 50}` },
  }
}

/** The quantile of sorted numbers, by nearest rank. */
function quantile(numbers: readonly number[], share: number): number {
  return numbers.toSorted((one, other) => one - other)[Math.round((numbers.length - 1) * share)] ?? NaN
}
