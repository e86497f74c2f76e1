/** Measures what a timeout of Node's server costs a request. */
import { compare, type Row } from './compare.ts'
import { printTable } from './comparison-table.ts'
import type { Answer } from './measurable.ts'

const effort = { generations: 3, rounds: 10, requests: 3000, warmUp: 30_000, connections: 8 }
const request = { path: '/', headers: { host: 'bench.example' }, status: 200 }
const answer: Answer = { status: 200, headers: [['content-type', 'application/json']], body: '{"hello":"world"}' }

const rows: Row[] = [
  { name: 'no timeout', server: 'node-http', options: { answer }, request },
  { name: 'timeout of 60 s', server: 'node-http', options: { answer, timeout: 60_000 }, request },
]
printTable("Node's own server", await compare(rows, effort), effort)
