import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import type { AnyPanel } from '../core/panel.ts'
import { findCaller } from '../index.ts'
import { parseStack } from '../features/exceptions/describe-failures.ts'
import { makeFolder } from './folder.ts'
import { onlyProfile, profiledApp, profileOf } from './profiled-app.ts'

t.test('exceptions and frames beyond their bounds are counted, and a cycle of causes ends', async t => {
  const app = await profiledApp(t, { profileBounds: { exceptions: 3, frames: 2 } })
  const cycle = () => {
    const first = new AggregateError([new Error('member')], 'first')
    first.cause = new Error('second', { cause: first })
    return first
  }
  app.get('/handled', async ({ recorder }) => {
    for (let number = 0; number < 3; number++) recorder?.exception(new Error(`handled ${number}`))
    throw cycle()
  })
  app.get('/cycle', async () => {
    throw cycle()
  })
  for (const [url, expected, dropped] of [
    ['/handled', [0, 1, 2].map(number => `thrown handled ${number} of null`), [{ what: 'exceptions' }]],
    ['/cycle', ['thrown first of null', 'member member of 0', 'cause second of 0'], []],
  ] as const) {
    const profile = await profileOf(app, url)
    const found = profile.exceptions.map(({ message, parent, relation }) => `${relation} ${message} of ${parent}`)
    t.same(found, expected)
    t.ok(profile.exceptions.every(({ frames }) => frames.length === 2))
    t.match(profile.dropped, [...dropped, { what: 'frames' }], url)
  }
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
  const thrown: Record<string, [error: Error, count: number]> = {
    chain: [chain(200), 198],
    members: [new AggregateError([chain(3), 'text', causedBy('text')]), 4],
    cycle: [cycle, 1],
    below: [causedBy(causedBy(cycle)), 3],
    inner: [causedBy(causedBy(new AggregateError([chain(2), chain(2)]))), 5],
    endless: [new Endless(), 10_000],
  }
  app.get<{ Params: { kind: string } }>('/:kind', async ({ params }) => {
    throw thrown[params.kind]?.[0]
  })
  for (const [kind, [, count]] of Object.entries(thrown)) {
    const { exceptions, dropped } = await profileOf(app, `/${kind}`)
    t.equal(exceptions.length, 2)
    const found = dropped.find(({ what }) => what === 'exceptions')
    t.match(found, { count }, kind)
  }
})

t.test('thrown values of any kind are described, with their own names and codes, with or without a stack', async t => {
  const app = await profiledApp(t)
  class OwnError extends Error {}
  const named = { name: 'NamedError', code: 42, status: 418, stack: undefined, extra: 1 }
  const failing = {
    enumerable: true,
    get() {
      throw new Error('getter')
    },
  }
  const thrown: Record<string, [value: unknown, described: object]> = {
    text: ['only text', { class: 'string', message: 'only text', frames: [] }],
    nothing: [null, { class: 'thrown value', message: 'null' }],
    object: [{ reason: 'plain' }, { class: 'object', message: '{"reason":"plain"}' }],
    own: [new OwnError('own'), { class: 'OwnError', message: 'own', code: null, statusCode: null }],
    nameless: [new (class extends Error {})('nameless'), { class: 'Error', message: 'nameless' }],
    named: [
      Object.assign(new Error('named'), named),
      { class: 'NamedError', code: '42', statusCode: 418, properties: { status: 418, extra: 1 }, frames: [] },
    ],
    // As an error of a library whose property is computed from something that is gone.
    unreadable: [
      Object.defineProperties(new Error('odd'), { details: failing, cause: failing }),
      { class: 'Error', message: 'odd', properties: { details: '[getter threw]' } },
    ],
  }
  app.get<{ Params: { kind: string } }>('/:kind', async ({ params }, reply) => {
    reply.code(500)
    throw thrown[params.kind]?.[0]
  })
  for (const [kind, [, described]] of Object.entries(thrown)) {
    const answer = await app.inject({ url: `/${kind}`, headers: { accept: 'text/html' } })
    t.match(answer.headers['content-type'], 'text/html', `${kind}: a browser gets the error page`)
    const { exceptions, notes } = await onlyProfile(t, app, `/${kind}`)
    t.match(exceptions[0], described, kind)
    t.same(notes, [])
  }
})

t.test('a profile whose collection fails keeps the basic facts of the request, with a note', async t => {
  const cyclic: AnyPanel = {
    name: 'cyclic',
    label: 'Cyclic',
    collect({ profile }) {
      Reflect.set(profile.labels, 'self', profile)
      return null
    },
    view: () => [],
  }
  const app = await profiledApp(t, { panels: [cyclic] })
  app.get('/', async () => 'ok')
  t.match(await profileOf(app, '/'), {
    status: 200,
    outcome: 'completed',
    routing: { matched: { url: '/' } },
    notes: [/could not read all of this request \(TypeError\)/],
  })
})

t.test('values of any kind become plain data within bounds', async t => {
  const app = await profiledApp(t, { profileBounds: { values: 30, depth: 3, text: 100 } })
  app.addContentTypeParser('text/odd', (_request, _payload, done) => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    done(null, {
      cycle,
      date: new Date(0),
      noDate: new Date(NaN),
      error: new Error('inside'),
      map: new Map([['key1', 1]]),
      set: new Set([1n]),
      bytes: Buffer.alloc(3),
      buffer: new ArrayBuffer(2),
      fn: function named() {},
      symbol: Symbol('s'),
      infinite: Infinity,
      nothing: undefined,
      deep: { deeper: { list: [1], object: {} } },
      polluting: JSON.parse('{"__proto__":{"own":1}}'),
      long: 'x'.repeat(500),
    })
  })
  app.post('/', async () => 'ok')
  const post = { method: 'POST', url: '/' } as const
  const odd = await profileOf(app, { ...post, headers: { 'content-type': 'text/odd' }, payload: 'x' })
  t.match(odd.request.body, {
    cycle: { self: '[circular]' },
    date: '1970-01-01T00:00:00.000Z',
    noDate: 'Invalid Date',
    error: 'Error: inside',
    map: { key1: 1 },
    set: ['1'],
    bytes: '[3 bytes]',
    buffer: '[2 bytes]',
    fn: '[function named]',
    symbol: 'Symbol(s)',
    infinite: 'Infinity',
    deep: { deeper: { list: '[array]', object: '[object]' } },
    polluting: { '[__proto__]': { own: 1 } },
  })
  t.match(odd.dropped, [{ what: 'values' }])
  const fields = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, 1]))
  const long = await profileOf(app, { ...post, payload: { list: Array(100).fill(1), ...fields } })
  const left = ['… shortened, 71 more', '… shortened, 100 more']
  t.same(long.request.body, { list: [...Array(29).fill(1), left[0]], '…': left[1] })
  t.match(long.dropped, [{ what: 'values', count: 171 }])
})

t.test('notes beyond their bound are counted', async t => {
  const app = await profiledApp(t)
  app.get('/', async ({ recorder }) => {
    for (let number = 0; number < 25; number++) recorder?.note(`note ${number}`)
    recorder?.note('note 0')
    return 'ok'
  })
  const { notes, dropped } = await profileOf(app, '/')
  t.equal(notes.length, 20)
  t.match(dropped, [{ what: 'notes', count: 5 }])
})

t.test('a message that looks like a stack makes the profiler read no files', t => {
  const message = 'bad\n    at evil (/etc/passwd:1:1)'
  const { frames } = parseStack(`Error: ${message}\n    at real (${import.meta.filename}:1:1)`, message, 10)
  const found = frames.map(frame => frame.function)
  t.same(found, ['real'])
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

t.test('an oversized profile loses its largest parts and names them', async t => {
  const big = (length: number) => Array.from({ length }, (_, index) => `${index} ${'x'.repeat(1000)}`)
  const app = await profiledApp(t, {
    profileBounds: { bytes: 20_000 },
    panels: [{ name: 'big', label: 'Big', collect: () => big(100), view: () => [] }],
  })
  app.post('/', async request => {
    for (const line of big(60)) request.log.info(line)
    for (const message of big(15)) request.recorder?.exception(new Error(message))
    return 'ok'
  })
  const headers = Object.fromEntries(big(14).map((value, index) => [`x-header-${index}`, value]))
  const profile = await profileOf(app, { method: 'POST', url: '/', headers, payload: { values: big(50) } })
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

/** What is shown of frames at the beginning of a line of compiled files. */
async function framesIn(t: Test, directory: string, names: readonly string[], line = 1) {
  const app = await profiledApp(t, { directory: join(directory, 'profiles') })
  app.get('/', async ({ recorder }) => {
    const frames = names.map(name => `    at run (${pathToFileURL(join(directory, name))}:${line}:1)`)
    recorder?.exception(Object.assign(new Error('mapped'), { stack: `Error: mapped\n${frames.join('\n')}` }))
    return 'ok'
  })
  return app.profiler.viewContext(await profileOf(app, '/')).profile.exceptions[0]?.frames ?? []
}

t.test('compiled code is shown as it was written, by its source map', async t => {
  // One segment: line 1, column 1 of the output is line 3, column 1 of the source.
  const map = { version: 3, file: 'made.js', sources: ['src/written.ts'], names: [], mappings: 'AAEA', sourceRoot: '' }
  const directory = makeFolder({
    src: { 'written.ts': '// line one\n// line two\nthrow new Error("original" as string)\n' },
    'made.js.map': JSON.stringify(map),
    'made.js': 'throw new Error("compiled")\n//# sourceMappingURL=made.js.map\n',
    'odd.js': 'throw 1\n//# sourceMappingURL=odd.js.map\n',
    'odd.js.map': '{}',
    'secret.txt': 'only for its owner',
    'huge.js': 'x\n'.repeat(1_000_001),
  })
  const names = ['made.js', 'odd.js', 'gone.js', 'secret.txt', 'huge.js']
  const [made, odd, gone, secret, huge] = await framesIn(t, directory, names)
  t.match(made, { file: join(directory, 'src/written.ts'), line: 3, excerpt: { first: 1, line: 3 } })
  t.equal(made?.excerpt?.lines[2], 'throw new Error("original" as string)')
  t.equal(odd?.excerpt?.lines[0], 'throw 1')
  t.equal(gone?.excerpt, undefined)
  t.equal(secret?.excerpt, undefined, 'only source code is ever read')
  t.match(huge, { line: 1, excerpt: undefined }, 'an oversized file is not read')
})

t.test('a source that was not shipped is shown for own code whose map contains it, but not for a library', async t => {
  const map = { version: 3, sources: ['src/gone.ts'], names: [], mappings: 'AAEA' }
  const texts = JSON.stringify({ ...map, sourcesContent: ['one()\ntwo()\nthree()\n'] })
  const code = (name: string) => `three()\n//# sourceMappingURL=${name}.map\n`
  const folder = {
    'bare.js': code('bare.js'),
    'bare.js.map': JSON.stringify(map),
    'full.js': code('full.js'),
    'full.js.map': texts,
  }
  const directory = makeFolder({ ...folder, node_modules: { library: folder } })
  const files = ['bare.js', 'full.js', 'node_modules/library/bare.js', 'node_modules/library/full.js']
  const frames = await framesIn(t, directory, files)
  t.same(
    frames.map(({ file, line }) => `${relative(directory, file)}:${line}`),
    ['bare.js:1', 'src/gone.ts:3', 'node_modules/library/bare.js:1', 'node_modules/library/full.js:1'],
  )
})

t.test('a place before the first mapping of its line belongs to that line', async t => {
  // Line 1 of the output is line 1 of the source; line 3, from its fifth column, is line 5.
  const map = { version: 3, sources: ['written.ts'], names: [], mappings: 'AAAA;;IAIA' }
  const directory = makeFolder({
    'written.ts': 'one()\n\n\n\nfive()\n',
    'made.js.map': JSON.stringify(map),
    'made.js': 'one()\n\nif(five());\n//# sourceMappingURL=made.js.map\n',
  })
  const [frame] = await framesIn(t, directory, ['made.js'], 3)
  t.match(frame, { file: join(directory, 'written.ts'), line: 5, column: 1 })
})

t.test('the caller of a function is found past dependencies and built-in functions', async t => {
  const find = (_item: unknown) => findCaller(find)
  t.match(find(null)?.file, /bounds\.test\.[jt]s$/)
  t.match([null].map(find)[0]?.file, /bounds\.test\.[jt]s$/)
})

t.test('a size bound smaller than any profile does not cause an endless loop', async t => {
  const app = await profiledApp(t, { profileBounds: { bytes: 10 } })
  t.equal((await profileOf(app, '/')).status, 404)
})

t.test('functions beyond the bound of spans are counted, and operations share spans', async t => {
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
    ['first', 'one', 'two'],
  )
  t.match(spans[1]?.shared, { count: 1 })
  t.match(dropped, [{ what: 'spans', count: 1 }])
})
