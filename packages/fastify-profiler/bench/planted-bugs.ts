/**
 * How many calls and tokens a client needs for ten planted bugs, if it only follows SKILL.md: overview, the profile of
 * the request, then what that answer offers. Needs PostgreSQL at TEST_DATABASE_URL.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import pg from 'pg'
import profiler, { profiledOptions } from '../index.ts'

const directory = mkdtempSync(join(tmpdir(), 'profiler-bugs-'))
const pool = new pg.Pool({ connectionString: process.env.TEST_DATABASE_URL, max: 4 })
const name = `planted_${process.pid}`
await pool.query(
  `create table ${name} as select n as id, n % 9000 as room, md5(n::text) as title from generate_series(1, 90000) n`,
)
await pool.query(`analyze ${name}`)
const broken = createServer((_request, response) => {
  response.writeHead(503).end()
}).listen(0)
const brokenPort = (broken.address() as AddressInfo).port

const app = Fastify(profiledOptions({ logger: { level: 'silent' } }))
await app.register(profiler, { directory, explainPool: pool, root: import.meta.dirname })
await pool.query('select 1')
const kept: number[][] = []

app.get('/loop', async () => {
  const titles: unknown[] = []
  for (let id = 1; id <= 20; id++) {
    titles.push(await pool.query(`select title from ${name} where id = $1 and id > 0`, [id]))
  }
  return titles.length
})
app.get(
  '/hook',
  {
    preHandler: async function checkQuota() {
      await setTimeout(60)
    },
  },
  async () => 'fine',
)
app.get('/lost', async () => {
  const saved = pool.query('select pg_sleep(0.08)')
  return { saved }
})
app.get('/causes', async () => {
  try {
    await pool.query('select * from no_such_table')
  } catch (cause) {
    throw new Error('The museum could not be shown', { cause })
  }
})
app.get('/museums/:id', async () => 'fine')
app.get('/index', async () => (await pool.query(`select title from ${name} where room = $1`, [7])).rows)
app.get('/masked', async request => {
  try {
    return (await pool.query('select * from prices')).rows
  } catch (error) {
    request.log.error(error, 'No prices, the page shows none')
    return []
  }
})
app.get(
  '/status',
  {
    onRequest: function refuseGuests(_request, reply, done) {
      void reply.code(404).send('gone')
      void done
    },
  },
  async () => 'fine',
)
app.get('/memory', async () => {
  kept.push(Array.from({ length: 1_000_000 }, () => Math.random()))
  return kept.length
})
app.get('/retries', async (_request, reply) => {
  for (let attempt = 0; attempt < 6; attempt++) await fetch(`http://127.0.0.1:${brokenPort}/prices`)
  return reply.code(502).send('no prices')
})
const origin = await app.listen({ port: 0, host: '127.0.0.1' })

const bugs: Array<[bug: string, path: string, told: RegExp]> = [
  ['N+1', '/loop', /N\\?\+1: 20 queries.*planted-bugs/],
  ['slow hook', '/hook', /checkQuota: 6\d\.\d ms/],
  ['lost await', '/lost', /still ran when the response was sent.*planted-bugs.*pg_sleep/s],
  ['500 with causes', '/causes', /no\\?_such\\?_table.*does not exist/],
  ['404 near miss', '/museum/7', /Nearest.*\/museums\/:id/s],
  ['missing index', '/index', /create index on planted\w+ \(room\)/],
  ['masked error', '/masked', /relation.*prices.*does not exist/],
  ['wrong status', '/status', /refuseGuests.*replied/],
  ['memory growth', '/memory', /heap .* at the end, \+\d\.\d+ MB|\+1\d\.\d MB/],
  ['retry storm', '/retries', /6 requests in .*, 6 failures/],
]

try {
  console.log(`Node ${process.versions.node}: calls and tokens until an answer tells the bug`)
  for (const [bug, path, told] of bugs) {
    const answer = await fetch(origin + path)
    await answer.text()
    await app.profiler.settled()
    const token = answer.headers.get('x-debug-token') ?? ''
    console.log(
      [bug, ...(await find(token, told))].map((cell, index) => String(cell).padEnd(index === 0 ? 18 : 8)).join(''),
    )
  }
} finally {
  await pool.query(`drop table ${name}`)
  await app.close()
  await pool.end()
  broken.close()
  rmSync(directory, { recursive: true })
}

/** Follows SKILL.md until an answer matches. */
async function find(token: string, told: RegExp): Promise<[calls: string, tokens: string, how: string]> {
  const made: string[] = []
  let tokens = 0
  let offered: Array<[tool: string, given: object]> = [['profile', { token }]]
  for (let next = offered.shift(); next !== undefined && made.length < 8; next = offered.shift()) {
    const [tool, given] = next
    const text = await call(tool, given)
    made.push(tool === 'profile' && 'panel' in given ? `panel ${String(given.panel)}` : tool)
    tokens += Math.ceil(Buffer.byteLength(text) / 4)
    if (told.test(text)) return [`${made.length} calls`, `${tokens} tokens  `, made.join(', ')]
    if (made.length === 1) offered = offers(text, token)
  }
  return ['not found', `${tokens} tokens  `, made.join(', ')]
}

/** What an answer about a request offers to ask next: the plan first, then the panels that tell why. */
function offers(text: string, token: string): Array<[tool: string, given: object]> {
  const [, query] = /`explain \{"token":"[^"]*","query":(\d+)\}`/.exec(text) ?? []
  const panels = /panels (.*)$/m.exec(text)?.[1]?.split(', ') ?? []
  const telling = ['lifecycle', 'logs', 'database', 'http-client', 'routing'].filter(panel => panels.includes(panel))
  return [
    ...(query === undefined ? [] : [['explain', { token, query: Number(query) }] as [string, object]]),
    ...telling.map((panel): [string, object] => ['profile', { token, panel }]),
  ]
}

async function call(tool: string, given: object): Promise<string> {
  const response = await fetch(`${origin}/_profiler/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: given } }),
  })
  const { result } = (await response.json()) as { result: { content: Array<{ text: string }> } }
  return result.content.map(({ text }) => text).join('')
}
