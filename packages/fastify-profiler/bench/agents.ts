/** The tokens of 200 answers: on a store with 10,000 profiles, and on a request with 100,000 queries. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask, questions } from '../features/home/question.ts'
import { defaultProfileBounds, defaultStoreBounds } from '../core/bounds.ts'
import type { Profile } from '../core/profile.ts'
import { storedSources } from '../features/command-line/asker.ts'
import { ProfileStore } from '../core/store/profile-store.ts'
import { serialise } from '../core/store/profile-text.ts'
import { summarise } from '../core/store/profile-writer.ts'
import { configuration, failedProfile, notFoundProfile, profile } from '../test/views/example-profile.ts'

const profiles = 10_000
const queries = 100_000
const root = '/srv/museum'

const directory = mkdtempSync(join(tmpdir(), 'profiler-bench-'))
const complain = (error: unknown) => {
  throw error
}
const store = new ProfileStore({ directory, bounds: { ...defaultStoreBounds, profiles: 2 * profiles }, complain })
store.writeConfiguration({
  ...configuration,
  routes: Array.from({ length: 300 }, (_, index) => ({
    method: ['GET'],
    url: `/museums/:id/rooms/${index}`,
    host: null,
    handler: `showRoom${index}`,
    plugin: null,
    location: { file: `${root}/routes/rooms.ts`, line: index + 1, column: 3 },
  })),
})
for (let index = 0; index < profiles; index++) write(exampleOf(index))
write(busyProfile())
store.close()

try {
  const sources = storedSources({ directory, base: '/_profiler', root })
  const token = (index: number) => `token-${(index * 997) % profiles}`
  const panels = ['request', 'performance', 'exception', 'logs', 'database', 'http-client', 'routing', 'lifecycle']
  const store = Array.from({ length: 200 }, (_, index): [string, object] => {
    const kind = index % 8
    if (kind === 0) return ['overview', { minutes: 1 + index }]
    if (kind === 1) {
      return ['search', { query: ['status:5xx', 'museums', 'slower:30ms', 'sql:>1'][index % 4], page: 1 + (index % 9) }]
    }
    if (kind === 2) return ['search', { sort: ['duration', 'sql', 'sqlTime', 'size'][index % 4] }]
    if (kind === 3) return ['compare', { a: token(index), b: token(index + 1) }]
    if (kind === 4) return ['routes', index % 3 === 0 ? {} : { path: `rooms/${index % 10}`, from: index % 5 }]
    if (kind === 5) return ['profile', { token: token(index), panel: panels[index % panels.length] }]
    return ['profile', { token: token(index) }]
  })
  const busy = Array.from({ length: 200 }, (_, index): [string, object] => {
    if (index % 4 === 0) return ['profile', { token: 'busy' }]
    if (index % 4 === 1) return ['compare', { a: token(index), b: 'busy' }]
    const panel = index % 4 === 2 ? 'database' : panels[(index >> 2) % panels.length]
    return ['profile', { token: 'busy', panel, from: panel === 'database' ? 7 * index : 0 }]
  })
  console.log(`Node ${process.versions.node}: tokens of an answer, estimated as 4 bytes each, and milliseconds`)
  console.log(['200 questions on', 'p50', 'p95', 'most', 'ms p50', 'ms p95'].map(name => name.padStart(24)).join(''))
  for (const [name, asked] of [
    [`${profiles} profiles`, store],
    [`${queries} queries`, busy],
  ] as const) {
    const tokens: number[] = []
    const times: number[] = []
    for (const [tool, given] of asked) {
      const [question] = questions().filter(question => question.name === tool)
      if (question === undefined) throw new Error(`Nobody can ask ${tool}.`)
      const began = performance.now()
      const { text } = await ask(question, given, sources)
      times.push(performance.now() - began)
      tokens.push(Math.ceil(Buffer.byteLength(text) / 4))
    }
    const figures = [quantile(tokens, 0.5), quantile(tokens, 0.95), Math.max(...tokens)]
    const ms = [quantile(times, 0.5).toFixed(1), quantile(times, 0.95).toFixed(1)]
    console.log([name, ...figures, ...ms].map(cell => String(cell).padStart(24)).join(''))
  }
} finally {
  rmSync(directory, { recursive: true })
}

function write(profile: Profile): void {
  store.write(summarise(profile), serialise(profile, defaultProfileBounds.bytes))
}

function exampleOf(index: number): Profile {
  const changes = { token: `token-${index}`, time: Date.now() - index, duration: index % 97, url: `/museums/${index}` }
  if (index % 10 === 0) return failedProfile(changes)
  return index % 11 === 0 ? notFoundProfile(changes) : profile(changes)
}

/** A request that sent as many queries as the bounds of a profile let through. */
function busyProfile(): Profile {
  const kept = Array.from({ length: defaultProfileBounds.spans }, (_, index) => ({
    system: 'postgresql',
    start: index,
    waited: 0,
    rows: 1,
    error: null,
    location: { file: `${root}/routes/museums.ts`, line: 12, column: 38 },
    transaction: null,
    sql: `select * from "museums" where "id" = $1 and "floor" = ${index % 40} order by "name"`,
    parameters: [index, 'x'.repeat(index % 300)],
    duration: index % 13,
    blocked: 0,
  }))
  const repetition = {
    kind: 'loop' as const,
    sql: 'select * from museums',
    count: queries,
    duration: 9000,
    locations: [],
  }
  const totals = { failed: 0, rows: queries, duration: 9000, waited: 0, transactions: 0, shapes: 40 }
  const database = { ...totals, count: queries, queries: kept, repetitions: [repetition] }
  return profile({ token: 'busy', time: Date.now(), duration: 9500, database })
}

/** The quantile of numbers, by nearest rank. */
function quantile(numbers: readonly number[], share: number): number {
  return numbers.toSorted((one, other) => one - other)[Math.round((numbers.length - 1) * share)] ?? NaN
}
