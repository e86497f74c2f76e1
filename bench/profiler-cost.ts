/** Measures the profiler: Fastify with and without it, Portico with debug on, debug off and without plugins/debug. */
import { cpSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { answerOf, compare, type Row } from './compare.ts'
import { dropDatabase, makeDatabase } from './bench-database.ts'
import { printTable } from './comparison-table.ts'

const effort = { generations: 3, rounds: 7, requests: 1500, warmUp: 5000, connections: 8 }

const bare = { server: 'bare-profiled', request: { path: '/', headers: {}, status: 200 } }
printTable(
  '10 hooks, 5 queries with callers, 5 log lines',
  await compare(
    [
      { ...bare, name: 'Fastify', options: { profiled: false } },
      { ...bare, name: 'Fastify, profiled', options: { profiled: true }, apart: true },
    ],
    effort,
  ),
  effort,
)

const withoutProfiler = copyWithoutProfiler()
const database = await makeDatabase(1)
try {
  const portico = { server: 'portico', request: { path: '/opening', headers: { host: 'bench.example' }, status: 200 } }
  const off: Row = { ...portico, name: 'Portico, debug off', options: { database } }
  const answer = await answerOf(off)
  printTable(
    'A small JSON route of Portico',
    await compare(
      [
        { ...portico, name: 'Portico without plugins/debug', options: { database }, folder: withoutProfiler, answer },
        { ...off, answer },
        { ...portico, name: 'Portico, DEBUG=1', options: { database, debug: true }, apart: true },
      ],
      effort,
    ),
    effort,
  )
} finally {
  await dropDatabase(database)
  rmSync(withoutProfiler, { recursive: true })
}

/** Copies the build without the folder plugins/debug. */
function copyWithoutProfiler(): URL {
  const build = new URL('../', import.meta.url)
  const copy = new URL('without-debug/', build)
  const missing = fileURLToPath(new URL('plugins/debug', build))
  for (const folder of ['bench', 'plugins', 'routes', 'src', 'test/support']) {
    cpSync(new URL(folder, build), new URL(folder, copy), { recursive: true, filter: source => source !== missing })
  }
  return new URL('bench/', copy)
}
