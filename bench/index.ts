/** Compares Portico with bare Fastify, Node's own server and other frameworks. All of them send the same bytes. */
import { parseArgs } from 'node:util'
import { answerIn } from './capture.ts'
import { answerOf, type BenchRequest, compare, type Effort, type Row } from './compare.ts'
import { dropDatabase, makeDatabase } from './bench-database.ts'
import { printTable } from './comparison-table.ts'

const {
  values: { quick, requests, only },
} = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    /** Requests per turn and for the warm-up. */
    requests: { type: 'string' },
    /** Runs only the comparisons whose title contains this. */
    only: { type: 'string', default: '' },
  },
})

const effort: Effort = quick
  ? { generations: 1, rounds: 3, requests: 200, warmUp: 600, connections: 8 }
  : { generations: 3, rounds: 6, requests: 3000, warmUp: 30_000, connections: 8 }
if (requests !== undefined) Object.assign(effort, { requests: Number(requests), warmUp: Number(requests) })

const browser = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-GB,en;q=0.9,de;q=0.8',
  'cache-control': 'max-age=0',
  'sec-ch-ua': '"Chromium";v="140", "Not=A?Brand";v="24"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'none',
  'sec-fetch-user': '?1',
  'upgrade-insecure-requests': '1',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
}

const database = await makeDatabase(effort.warmUp + effort.rounds * effort.requests + 10)

const comparisons: Array<{ title: string; request: BenchRequest; debug?: boolean; connections?: number }> = [
  {
    title: 'A small JSON route of a licensed host',
    request: { path: '/opening', headers: { host: 'bench.example' }, status: 200 },
    debug: true,
  },
  {
    title: '404 of /version',
    request: { path: '/version', headers: { host: 'bench.example' }, status: 404 },
    debug: true,
  },
  {
    title: '404 of /version, a browser',
    request: { path: '/version', headers: { host: 'bench.example', ...browser }, status: 404 },
  },
  {
    title: 'A host without a license',
    request: { path: '/opening', headers: { host: 'nobody.example' }, status: 404 },
  },
  {
    title: 'A signed-in request',
    request: { path: '/visitor', headers: { host: 'bench.example', cookie: database.cookie }, status: 200 },
  },
  {
    title: 'The first request of a cold host, eight at once',
    request: { path: '/opening', headers: { host: 'cold-0.example' }, status: 200, cold: true },
  },
  {
    title: 'The first request of a cold host, one after another',
    request: { path: '/opening', headers: { host: 'cold-0.example' }, status: 200, cold: true },
    connections: 1,
  },
]

const peers = { Express: 'express', Koa: 'koa', Hono: 'hono', 'Nest on Fastify': 'nest' }

try {
  for (const { title, request, debug = false, connections = effort.connections } of comparisons) {
    if (!title.includes(only)) continue
    const portico: Row = { name: 'Portico', server: 'portico', options: { database }, request }
    const answer = await answerOf(portico)
    const same = { request, answer }
    const rows: Row[] = [
      { ...same, name: 'Fastify', server: 'fastify', options: { answer: answerIn(answer) } },
      { ...same, name: 'node:http', server: 'node-http', options: { answer: answerIn(answer) } },
      { ...portico, answer },
      ...Object.entries(peers).map(([name, server]) => ({ ...same, name, server, options: { database } })),
    ]
    const asked = { ...effort, connections }
    printTable(title, await compare(rows, asked), asked)
    if (!debug) continue
    // Not compared byte for byte, because DEBUG=1 adds to the answer. Measured apart, because it is so slow that the
    // other servers would idle and lose their warm caches.
    const profiled: Row = { ...portico, name: 'Portico, DEBUG=1', options: { database, debug }, apart: true }
    printTable(`${title}, DEBUG=1`, await compare([...rows.slice(0, 1), profiled], asked), asked)
  }
} finally {
  await dropDatabase(database)
}
