import { createServer } from 'node:http'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { findCaller, html } from '../index.ts'
import { originalLocation } from '../base/location.ts'
import { parseStack } from '../collect/stack-frames.ts'
import { makeFolder } from './folder.ts'
import { onlyProfile, profiledApp } from './profiled-app.ts'

t.test('exceptions and frames beyond their bounds are counted, and a cycle of causes ends', async t => {
  const app = await profiledApp(t, { profileBounds: { exceptions: 3, frames: 2 } })
  app.get('/', async request => {
    for (let number = 0; number < 3; number++) request.recorder?.exception(new Error(`handled ${number}`))
    const first = new Error('first')
    first.cause = new Error('second', { cause: first })
    throw first
  })
  app.get('/chain', async () => {
    throw new Error('1', {
      cause: new Error('2', { cause: new Error('3', { cause: new Error('4', { cause: new Error('5') }) }) }),
    })
  })
  app.get('/cycle', async () => {
    const first = new AggregateError([new Error('member')], 'first')
    first.cause = new Error('second', { cause: first })
    throw first
  })
  await app.inject('/')
  const { exceptions, dropped } = await onlyProfile(t, app, '/')
  t.same(
    exceptions.map(({ message, frames }) => [message, frames.length]),
    [
      ['handled 0', 2],
      ['handled 1', 2],
      ['handled 2', 2],
    ],
  )
  t.match(
    dropped.map(({ what }) => what),
    ['exceptions', 'frames'],
  )
  await app.inject('/chain')
  const chain = await onlyProfile(t, app, '/chain')
  t.same(
    chain.exceptions.map(({ message }) => message),
    ['1', '2', '3'],
  )
  t.match(chain.dropped, [{ what: 'exceptions', count: 2 }, { what: 'frames' }])
  await app.inject('/cycle')
  const cycle = await onlyProfile(t, app, '/cycle')
  t.same(
    cycle.exceptions.map(({ message, relation }) => `${relation} ${message}`),
    ['thrown first', 'member member', 'cause second'],
  )
})

t.test('every exception left out is counted, and counting ends even if the causes do not', async t => {
  const app = await profiledApp(t, { profileBounds: { exceptions: 2 } })
  const causedBy = (cause: unknown) => new Error('caused', { cause })
  const chain = (length: number): Error => (length === 1 ? new Error('first') : causedBy(chain(length - 1)))
  const cycle = chain(3)
  cycle.cause = causedBy(causedBy(cycle))
  class Endless extends Error {
    override get cause() {
      return new Endless()
    }
  }
  const unreadable = {
    get() {
      throw new Error('getter')
    },
  }
  const thrown: Record<string, { error: Error; count: number }> = {
    chain: { error: chain(200), count: 198 },
    members: { error: new AggregateError([chain(3), 'text', causedBy('text')]), count: 4 },
    cycle: { error: cycle, count: 1 },
    below: { error: causedBy(causedBy(cycle)), count: 3 },
    inner: { error: causedBy(causedBy(new AggregateError([chain(2), chain(2)]))), count: 5 },
    // The placeholder for the unreadable cause counts too.
    unreadable: { error: causedBy(causedBy(Object.defineProperty(new Error('odd'), 'cause', unreadable))), count: 2 },
    members_unreadable: {
      error: causedBy(
        causedBy(
          Object.defineProperty(new AggregateError([]), 'errors', { value: new Proxy([], { get: unreadable.get }) }),
        ),
      ),
      count: 1,
    },
    endless: { error: new Endless(), count: 10_000 },
  }
  app.get<{ Params: { kind: string } }>('/:kind', async ({ params }) => {
    throw thrown[params.kind]?.error
  })
  for (const [kind, { count }] of Object.entries(thrown)) {
    await app.inject(`/${kind}`)
    const { exceptions, dropped } = await onlyProfile(t, app, `/${kind}`)
    t.equal(exceptions.length, 2)
    t.match(
      dropped.find(({ what }) => what === 'exceptions'),
      { count },
      kind,
    )
  }
})

t.test('thrown values of any kind are described, with their own names and codes, with or without a stack', async t => {
  const app = await profiledApp(t)
  class OwnError extends Error {}
  const errors: Record<string, unknown> = {
    text: 'only text',
    nothing: null,
    object: { reason: 'plain' },
    own: new OwnError('own'),
    nameless: new (class extends Error {})('nameless'),
    orphan: Object.assign(new Error('orphan'), { constructor: undefined }),
    named: Object.assign(new Error('named'), { name: 'NamedError', code: 42, status: 418, stack: undefined, extra: 1 }),
  }
  app.get<{ Params: { kind: string } }>('/:kind', async ({ params, recorder }) => {
    recorder?.exception(errors[params.kind])
    return 'ok'
  })
  for (const [kind, expected] of Object.entries({
    text: { class: 'string', message: 'only text', frames: [] },
    nothing: { class: 'null', message: 'null' },
    object: { class: 'object', message: '{"reason":"plain"}' },
    own: { class: 'OwnError', message: 'own', code: null, statusCode: null },
    nameless: { class: 'Error', message: 'nameless' },
    orphan: { class: 'Error' },
    named: { class: 'NamedError', code: '42', statusCode: 418, properties: { status: 418, extra: 1 }, frames: [] },
  })) {
    await app.inject(`/${kind}`)
    t.match((await onlyProfile(t, app, `/${kind}`)).exceptions[0], expected, kind)
  }
})

t.test('a message that looks like a stack makes the profiler read no files', t => {
  const message = 'bad\n    at evil (/etc/passwd:1:1)'
  const { frames } = parseStack(`Error: ${message}\n    at real (${import.meta.filename}:1:1)`, message, 10)
  t.same(
    frames.map(frame => frame.function),
    ['real'],
  )
  t.same(
    parseStack(`Error: other\n    at ${'( '.repeat(1000)}(/a.js:1:1)`, 'gone', 10).frames,
    [],
    'a line that is too long is not searched',
  )
  t.same(
    parseStack(
      'Error: other\n    at node:internal/x:1:2\n    at async f (/a/node_modules/b/c.js:3:4)',
      'gone',
      10,
    ).frames.map(({ kind }) => kind),
    ['node', 'module'],
  )
  t.end()
})

t.test('thousands of frames in turn, changed by whoever gets them, are parsed the same each time', t => {
  const stackOf = (line: number) => `Error: x\n    at f (/srv/museum/a.js:${line}:1)`
  for (let time = 0; time < 2; time++) {
    for (let line = 1; line <= 2000; line++) {
      const [frame] = parseStack(stackOf(line), 'x', 10).frames
      if (frame?.line !== line || frame.function !== 'f') t.fail(`line ${line}`)
      else frame.function = 'changed'
      if (parseStack(stackOf(line), 'x', 10).frames[0]?.function !== 'f') t.fail(`line ${line} again`)
    }
  }
  t.end()
})

t.test('an oversized profile loses its largest parts and names them', async t => {
  const big = (length: number) => Array.from({ length }, (_, index) => `${index} ${'x'.repeat(1000)}`)
  const app = await profiledApp(t, {
    profileBounds: { bytes: 20_000 },
    panels: [{ name: 'big', label: 'Big', collect: () => big(100), body: () => html`` }],
  })
  app.post('/', async request => {
    for (const line of big(60)) request.log.info(line)
    for (const message of big(15)) request.recorder?.exception(new Error(message))
    return 'ok'
  })
  const headers = Object.fromEntries(big(14).map((value, index) => [`x-header-${index}`, value]))
  await app.inject({ method: 'POST', url: '/', headers, payload: { values: big(50) } })
  const profile = await onlyProfile(t, app, '/')
  t.ok(JSON.stringify(profile).length <= 20_000)
  t.same(profile.panels, {})
  t.same([...new Set(profile.dropped.map(({ what }) => what))].sort(), [
    'exceptions',
    'headers',
    'logs',
    'panel big',
    'values',
  ])
})

t.test('compiled code is shown as it was written, by its source map', async t => {
  const directory = makeFolder(t)
  mkdirSync(join(directory, 'src'))
  writeFileSync(join(directory, 'src/written.ts'), '// line one\n// line two\nthrow new Error("original" as string)\n')
  // One segment: line 1, column 1 of the output is line 3, column 1 of the source.
  const map = { version: 3, file: 'made.js', sources: ['src/written.ts'], names: [], mappings: 'AAEA', sourceRoot: '' }
  writeFileSync(join(directory, 'made.js.map'), JSON.stringify(map))
  writeFileSync(join(directory, 'made.js'), 'throw new Error("compiled")\n//# sourceMappingURL=made.js.map\n')
  writeFileSync(join(directory, 'odd.js'), 'throw 1\n//# sourceMappingURL=odd.js.map\n')
  writeFileSync(join(directory, 'odd.js.map'), '{}')
  writeFileSync(join(directory, 'huge.js'), 'x\n'.repeat(1_000_001))
  const app = await profiledApp(t, { directory: join(directory, 'profiles') })
  app.get('/', async ({ recorder }) => {
    const frames = ['made.js', 'odd.js', 'gone.js', 'secret.txt', 'huge.js'].map(
      name => `    at run (${pathToFileURL(join(directory, name))}:1:1)`,
    )
    recorder?.exception(Object.assign(new Error('mapped'), { stack: `Error: mapped\n${frames.join('\n')}` }))
    return 'ok'
  })
  await app.inject('/')
  const { profile } = app.profiler.viewContext(await onlyProfile(t, app, '/'))
  const [made, odd, gone, secret, huge] = profile.exceptions[0]?.frames ?? []
  t.match(made, { file: join(directory, 'src/written.ts'), line: 3, excerpt: { first: 1, line: 3 } })
  t.equal(made?.excerpt?.lines[2], 'throw new Error("original" as string)')
  t.equal(odd?.excerpt?.lines[0], 'throw 1')
  t.equal(gone?.excerpt, undefined)
  t.equal(secret?.excerpt, undefined, 'only source code is ever read')
  t.match(huge, { line: 1, excerpt: undefined }, 'an oversized file is not read')
})

t.test('a place before the first mapping of its line belongs to that line', async t => {
  const directory = makeFolder(t)
  writeFileSync(join(directory, 'written.ts'), 'one()\n\n\n\nfive()\n')
  // Line 1 of the output is line 1 of the source; line 3, from its fifth column, is line 5.
  const map = { version: 3, sources: ['written.ts'], names: [], mappings: 'AAAA;;IAIA' }
  writeFileSync(join(directory, 'made.js.map'), JSON.stringify(map))
  writeFileSync(join(directory, 'made.js'), 'one()\n\nif(five());\n//# sourceMappingURL=made.js.map\n')
  const app = await profiledApp(t, { directory: join(directory, 'profiles') })
  app.get('/', async ({ recorder }) => {
    const stack = `Error: mapped\n    at run (${pathToFileURL(join(directory, 'made.js'))}:3:1)`
    recorder?.exception(Object.assign(new Error('mapped'), { stack }))
    return 'ok'
  })
  await app.inject('/')
  const { profile } = app.profiler.viewContext(await onlyProfile(t, app, '/'))
  t.match(profile.exceptions[0]?.frames[0], { file: join(directory, 'written.ts'), line: 5, column: 1 })
})

t.test('the caller of a function is found past dependencies and built-in functions', async t => {
  const find = (_item: unknown) => findCaller(find)
  t.match(find(null)?.file, /bounds\.test\.[jt]s$/)
  t.match([null].map(find)[0]?.file, /bounds\.test\.[jt]s$/)
})

t.test('a location without a source map is left unchanged', async t => {
  const location = { file: '/no/such/file.js', line: 1, column: 1 }
  t.same(originalLocation(location), location)
})

t.test('a second server with the same listener, as Fastify makes for localhost, is profiled too', async t => {
  const app = await profiledApp(t)
  await app.ready()
  const sibling = createServer(app.routing)
  const stranger = createServer((_request, response) => {
    response.end('not ours')
  })
  for (const server of [sibling, stranger]) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    for (let request = 0; request < 2; request++) {
      const response = await fetch(`http://127.0.0.1:${port}/%zz`, { headers: { connection: 'close' } })
      await response.text()
      t.equal(response.headers.has('x-debug-token'), server === sibling)
    }
  }
  t.equal((await app.profiler.search({ url: '/%zz' })).total, 2)
})

t.test('a size bound smaller than any profile does not cause an endless loop', async t => {
  const app = await profiledApp(t, { profileBounds: { bytes: 10 } })
  await app.inject('/')
  t.equal((await onlyProfile(t, app, '/')).status, 404)
})

t.test('spans beyond their bound are counted, whether from hooks, handlers or panels', async t => {
  const app = await profiledApp(t, { profileBounds: { spans: 1 } })
  app.addHook('onRequest', async function first() {})
  app.get('/', async function dropped({ recorder }) {
    recorder?.record({ kind: 'query', name: 'one' }, 1)
    const span = recorder?.span({ kind: 'query', name: 'two' })
    span?.end()
    return { id: span?.id }
  })
  t.same((await app.inject('/')).json(), { id: null })
  const { spans, dropped } = await onlyProfile(t, app, '/')
  t.same(
    spans.map(({ name }) => name),
    ['first'],
  )
  t.match(dropped, [{ what: 'spans', count: 3 }])
})
