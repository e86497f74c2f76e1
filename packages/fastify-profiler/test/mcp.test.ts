import t, { type Test } from 'tap'
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import profiler from '../index.ts'
import { makeFolder } from './folder.ts'
import { keepBusy, keptLines, profiledApp, sleepyPanel } from './profiled-app.ts'

const path = '/_profiler/mcp'
const version = 'io.modelcontextprotocol/protocolVersion'
const capabilities = 'io.modelcontextprotocol/clientCapabilities'
const meta = { [version]: '2026-07-28', [capabilities]: {} }

async function agentsApp(t: Test): Promise<FastifyInstance> {
  const app = await profiledApp(t)
  app.get('/fine', async () => 'fine')
  app.get('/broken', async () => {
    throw new Error('The cellar is flooded')
  })
  return app
}

/** Sends a message as a client of the handshake era. */
function send(app: FastifyInstance, message: unknown, changes: InjectOptions = {}) {
  return app.inject({
    method: 'POST',
    url: path,
    body: typeof message === 'string' ? message : JSON.stringify(message),
    ...changes,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...changes.headers },
  })
}

/** A request of the stateless era, with the headers that repeat it. */
function stateless(app: FastifyInstance, method: string, params: object = {}, headers: Record<string, string> = {}) {
  const name: unknown = Reflect.get(params, 'name')
  return send(
    app,
    { jsonrpc: '2.0', id: 1, method, params: { _meta: meta, ...params } },
    {
      headers: {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
        ...headers,
      },
    },
  )
}

const request = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 'a', method, ...(params && { params }) })

t.test('a client that begins with a handshake gets its version, and the tools without a session', async t => {
  const app = await agentsApp(t)
  for (const [asked, given] of [
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2026-07-28', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
  ]) {
    const params = { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'agent', version: '1' } }
    const response = await send(app, request('initialize', params))
    t.match(response.json(), {
      jsonrpc: '2.0',
      id: 'a',
      result: { protocolVersion: given, capabilities: { tools: {} }, serverInfo: { name: 'fastify-profiler' } },
    })
    t.notOk('mcp-session-id' in response.headers)
  }
  const headers = { 'mcp-protocol-version': '2025-11-25' }
  t.same((await send(app, request('ping'), { headers })).json(), { jsonrpc: '2.0', id: 'a', result: {} })
  const { result } = (await send(app, request('tools/list'), { headers })).json()
  t.same(Object.keys(result), ['tools'])
  const names = result.tools.map(({ name }: { name: string }) => name)
  t.same(names, ['overview', 'search', 'profile', 'sample', 'compare', 'explain', 'replay', 'boot', 'routes'])
})

t.test('a client of the stateless era discovers the server, lists tools and calls them', async t => {
  const app = await agentsApp(t)
  const discovered = (await stateless(app, 'server/discover')).json()
  t.match(discovered.result, {
    resultType: 'complete',
    supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18'],
    capabilities: { tools: {} },
    ttlMs: Number,
    cacheScope: 'public',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'fastify-profiler', version: /^\d/ } },
  })
  const { result } = (await stateless(app, 'tools/list')).json()
  t.match(result, { resultType: 'complete', ttlMs: Number, cacheScope: 'public' })
  t.equal(result.tools.length, 9)
  await app.inject('/broken')
  const called = await stateless(app, 'tools/call', { name: 'profile', arguments: { token: 'latest' } })
  t.equal(called.statusCode, 200)
  t.equal(called.headers['content-type'], 'application/json; charset=utf-8')
  t.match(called.json().result, {
    resultType: 'complete',
    isError: false,
    content: [{ type: 'text', text: /^# Profile \S+: 500 Internal Server Error.*The cellar is flooded/s }],
  })
  t.notOk('structuredContent' in called.json().result)
  const wrong = await stateless(app, 'tools/call', { name: 'profile' })
  t.match(wrong.json().result, { isError: true, content: [{ text: /^profile needs token/ }] })
})

t.test('tools say in less than 60 words when to call them, whether they only read, and what they take', async t => {
  const app = await agentsApp(t)
  const { tools } = (await send(app, request('tools/list'))).json().result
  for (const tool of tools) {
    t.match(tool.description, /^Call /)
    t.ok(tool.description.split(/\s+/).length < 60, tool.name)
    t.match(tool.annotations, { readOnlyHint: !['replay', 'sample'].includes(tool.name), destructiveHint: false })
    t.match(tool.inputSchema, { type: 'object', additionalProperties: false, properties: { max_tokens: {} } })
    for (const name of tool.inputSchema.required) t.ok(name in tool.inputSchema.properties)
  }
  t.ok(JSON.stringify(tools).length < 8000, 'the list costs less than 2,000 tokens')
})

t.test('the data of an answer are sent to those who ask for them in _meta', async t => {
  const app = await agentsApp(t)
  await app.inject('/fine')
  const call = { name: 'profile', arguments: { token: 'latest' }, _meta: { ...meta, 'fastify-profiler/data': true } }
  t.match((await stateless(app, 'tools/call', call)).json().result.structuredContent, { url: '/fine', status: 200 })
})

t.test('an agent replays a GET and has its CPU sampled, and nothing that a page would not', async t => {
  const app = await agentsApp(t)
  app.post('/fine', async () => 'changed')
  const call = async (name: string, given: object) => {
    const { result } = (await stateless(app, 'tools/call', { name, arguments: given })).json()
    return { failed: result.isError, text: String(result.content[0].text) }
  }
  const token = (await app.inject('/fine')).headers['x-debug-token']
  t.match(await call('sample', { token }), { failed: false, text: /^The next request/ })
  const { text } = await call('replay', { token, times: 2 })
  t.match(text, /^# Replayed 2 times\n.*Next: `compare \{"a":"[\w-]+","b":"[\w-]+"\}`$/s)
  const { profiles } = await app.profiler.search({ parent: String(token) })
  t.equal(profiles.length, 2)
  const kinds = await Promise.all(profiles.map(async ({ token }) => (await app.profiler.find(token))?.samples?.kind))
  t.strictSame(kinds, [undefined, 'cpu'], 'the newest request is the first')

  const changed = (await app.inject({ method: 'POST', url: '/fine' })).headers['x-debug-token']
  t.match(await call('replay', { token: changed }), { failed: true, text: /^Only GET and HEAD can be replayed/ })
  const unknown = (await app.inject('/nowhere')).headers['x-debug-token']
  t.match(await call('sample', { token: unknown }), { failed: true, text: /has no route/ })
  t.match(await call('boot', {}), { failed: false, text: /^# The newest start\n.*# Ready after/s })
})

t.test('messages of wrong form are refused with the codes of JSON-RPC', async t => {
  const app = await agentsApp(t)
  for (const [body, status, code, id] of [
    ['{', 400, -32700, undefined],
    ['', 400, -32700, undefined],
    ['[]', 400, -32600, undefined],
    [[request('ping')], 400, -32600, undefined],
    ['null', 400, -32600, undefined],
    [{ id: 1, method: 'ping' }, 400, -32600, 1],
    [{ jsonrpc: '1.0', id: 1, method: 'ping' }, 400, -32600, 1],
    [{ jsonrpc: '2.0', id: 1, method: 7 }, 400, -32600, 1],
    [{ jsonrpc: '1.0', id: 1, result: {} }, 400, -32600, 1],
    [{ jsonrpc: '2.0', id: null, method: 'ping' }, 400, -32600, undefined],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }, 400, -32600, undefined],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, 400, -32602, 1],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: 'x' } }, 400, -32602, 1],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { [version]: 7 } } }, 400, -32020, 1],
    [request('no/such'), 200, -32601, 'a'],
    [request('server/discover'), 200, -32601, 'a'],
    [request('tools/call'), 200, -32602, 'a'],
    [request('tools/call', { name: 'drop_table' }), 200, -32602, 'a'],
  ] as const) {
    const response = await send(app, body)
    t.match(response.json(), { jsonrpc: '2.0', error: { code, message: /\.$/ } }, JSON.stringify(body))
    t.equal(response.statusCode, status, JSON.stringify(body))
    t.equal(response.json().id, id)
  }
})

t.test('a notification or a response is accepted, and has no answer', async t => {
  const app = await agentsApp(t)
  for (const message of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { jsonrpc: '2.0', method: 'no/such' },
    { jsonrpc: '2.0', method: 7 },
    { jsonrpc: '2.0', method: 'tools/call', params: [] },
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'no' } },
    { jsonrpc: '2.0', result: null },
  ]) {
    const { body, headers, statusCode } = await send(app, message)
    t.same([statusCode, body, headers['content-type']], [202, '', undefined], JSON.stringify(message))
  }
})

t.test('the overview has a request that has just failed, while others are open', async t => {
  const app = await agentsApp(t)
  await keepBusy(app)
  await app.inject('/broken')
  const { body } = await stateless(app, 'tools/call', { name: 'overview' })
  t.match(body, /1 failed.*The cellar is flooded/)
})

t.test('a request of the stateless era is refused unless its headers and _meta agree', async t => {
  const app = await agentsApp(t)
  const call = { name: 'overview' }
  for (const [params, headers, status, code] of [
    [{}, { 'mcp-protocol-version': '2025-11-25' }, 400, -32020],
    [{ _meta: { [version]: '2026-07-28' } }, {}, 400, -32602],
    [{ _meta: {} }, {}, 400, -32602],
    [{ _meta: { [version]: '2026-07-28', [capabilities]: 'x' } }, {}, 400, -32602],
    [{ _meta: { ...meta, [version]: '2027-01-01' } }, { 'mcp-protocol-version': '2027-01-01' }, 400, -32022],
    [{}, { 'mcp-method': 'tools/call' }, 400, -32020],
    [call, { 'mcp-name': 'search', 'mcp-method': 'tools/call' }, 400, -32020],
    [call, { 'mcp-name': '=?base64?c2VhcmNo?=', 'mcp-method': 'tools/call' }, 400, -32020],
    [{ name: 'gone' }, { 'mcp-method': 'tools/call' }, 200, -32602],
  ] as const) {
    const response = await stateless(app, 'name' in params ? 'tools/call' : 'tools/list', params, headers)
    t.equal(response.statusCode, status, JSON.stringify({ params, headers }))
    t.match(response.json(), { id: 1, error: { code } }, JSON.stringify({ params, headers }))
  }
  const unsupported = await send(app, request('ping'), { headers: { 'mcp-protocol-version': '1999-01-01' } })
  t.equal(unsupported.statusCode, 400)
  t.match(unsupported.json().error, { code: -32022, data: { supported: ['2026-07-28'], requested: '1999-01-01' } })
  const encoded = { 'mcp-name': '=?base64?b3ZlcnZpZXc=?=' }
  t.equal((await stateless(app, 'tools/call', call, encoded)).statusCode, 200)
})

t.test('methods of the handshake era are unknown to the stateless one', async t => {
  const app = await agentsApp(t)
  for (const method of ['initialize', 'ping', 'resources/list']) {
    const response = await stateless(app, method)
    t.equal(response.statusCode, 404)
    t.match(response.json(), { error: { code: -32601 } })
  }
})

t.test('a request with a version of the handshake era in _meta is answered without a handshake', async t => {
  const app = await agentsApp(t)
  const asked = request('tools/list', { _meta: { [version]: '2025-11-25' } })
  const response = await send(app, asked, { headers: { 'mcp-protocol-version': '2025-11-25' } })
  t.equal(response.json().result.tools.length, 9)
})

t.test('only JSON of at most 64 kB is read, and only clients that take JSON are answered', async t => {
  const app = await agentsApp(t)
  const long = await send(app, request('ping', { x: 'x'.repeat(70_000) }))
  t.equal(long.statusCode, 413)
  t.match(long.json(), { error: { code: -32600, message: /at most 65536 bytes/ } })
  const form = await send(app, 'a=b', { headers: { 'content-type': 'application/x-www-form-urlencoded' } })
  t.equal(form.statusCode, 415)
  t.match(form.json(), { error: { code: -32600, message: /application\/json/ } })
  t.equal((await send(app, request('ping'), { headers: { accept: 'text/html' } })).statusCode, 406)
})

t.test('a message that a hook of the application refuses is answered with JSON of the protocol', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('preHandler', async function refuse() {
    throw Object.assign(new Error('Sign in first'), { statusCode: 401 })
  })
  app.setReplySerializer(() => 'serialised otherwise')
  await app.register(profiler, { directory: makeFolder() })
  const response = await send(app, request('ping'))
  t.equal(response.statusCode, 401)
  t.match(response.json(), { jsonrpc: '2.0', error: { code: -32600, message: /refused with the status 401/ } })
})

t.test('a client that asks for a stream, or ends a session, is refused', async t => {
  const app = await agentsApp(t)
  const got = await app.inject({ url: path, headers: { accept: 'text/event-stream' } })
  t.equal(got.statusCode, 405)
  t.equal(got.headers.allow, 'POST')
  t.equal((await app.inject({ method: 'DELETE', url: path })).statusCode, 405)
})

t.test('pages of other origins and other host names are refused', async t => {
  const app = await agentsApp(t)
  for (const [headers, status] of [
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ host: 'evil.example' }, 403],
    [{ host: 'localhost:3000', origin: 'http://localhost:3000' }, 200],
    [{ host: '127.0.0.1:3000' }, 200],
  ] as const) {
    t.equal((await send(app, request('ping'), { headers })).statusCode, status, JSON.stringify(headers))
  }
})

t.test('agents leave no profile', async t => {
  const app = await agentsApp(t)
  await send(app, request('tools/list'))
  t.equal((await app.profiler.search({})).total, 0)
})

t.test('the reason of a failure is in the log, and not in the answer to the agent', async t => {
  const { lines, logger } = keptLines('info')
  const app = await profiledApp(t, { panels: [sleepyPanel] }, { logger })
  app.get('/fine', async () => 'fine')
  await app.inject('/fine')
  const failed = await send(app, request('tools/call', { name: 'profile', arguments: { token: 'latest' } }))
  t.equal(failed.statusCode, 500)
  t.match(failed.json(), { id: 'a', error: { code: -32603 } })
  t.notMatch(failed.body, 'sleeps')
  t.match(lines.join(''), 'The panel sleeps')
})
