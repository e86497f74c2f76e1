import type { Profiler } from 'node:inspector'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import type { Samples } from '../../features/samples/samples.ts'
import { callCells, amountOf, outermostCalls, chargedCode } from '../../features/samples/call-tree.ts'
import { renderProfileMarkdown, renderProfilePage } from '../../features/home/profile-page.ts'
import type { ViewContext } from '../../core/panel.ts'
import { panels } from './example-panels.ts'
import { context, profile, samples, textOf } from './example-profile.ts'

const packageFolder = dirname(fileURLToPath(import.meta.resolve('fastify-profiler/package.json')))
const profilerFile = pathToFileURL(join(packageFolder, 'dist', 'traced-call.js')).href

/** A node of a CPU profile: its name, its hits, and the numbers of those that it calls. */
type Node = readonly [name: string, hitCount: number, ...children: number[]]

/** A CPU profile of nodes. @param files the URLs of functions by name; the others are the application's */
function rawOf(nodes: readonly Node[], files: Record<string, string> = {}): Profiler.Profile {
  const made = nodes.map(([functionName, hitCount, ...children], id) => {
    const url = functionName.startsWith('(') ? '' : (files[functionName] ?? '/app.js')
    return { id, callFrame: { functionName, scriptId: '1', url, lineNumber: -1, columnNumber: -1 }, hitCount, children }
  })
  const ids = nodes.flatMap(([, hits], id) => Array<number>(hits).fill(id))
  return { nodes: made, startTime: 0, endTime: 1, samples: ids, timeDeltas: ids.map(() => 100) }
}

/** What is drawn of a CPU profile: each cell with its row, where it starts and how wide it is, in per cent. */
function drawn(nodes: readonly Node[], files?: Record<string, string>) {
  const { cells, dropped, rows } = callCells(outermostCalls(rawOf(nodes, files)))
  const percent = (share: number) => Math.round(share * 100)
  const shown = cells.map(({ call, row, share, start }) => [call.function, row, percent(start), percent(share)])
  return { shown, dropped, rows }
}

const page = (of: Samples, changes: Partial<ViewContext> = {}) =>
  renderProfilePage(context(profile({ samples: of }), changes), panels, 'cpu')

t.test('a cell lies below the function that calls it, and is as wide as its share', async t => {
  const { dropped, rows, shown } = drawn([
    ['(root)', 0, 1, 2, 5],
    ['small', 25],
    ['large', 25, 3, 4],
    ['inner', 25],
    ['inner too', 25],
    ['(idle)', 900],
  ])
  t.same(shown, [
    ['large', 0, 0, 75],
    ['small', 0, 75, 25],
    ['inner', 1, 0, 25],
    ['inner too', 1, 25, 25],
  ])
  t.match({ dropped, rows }, { dropped: 0, rows: 2 })
})

t.test('calls of libraries that only pass on are not drawn, and counted', async t => {
  const library = '/node_modules/fastify/hooks.js'
  const nodes: Node[] = [
    ['(root)', 0, 1],
    ['hookRunner', 0, 2],
    ['next', 1, 3],
    ['hook', 0, 4],
    ['done', 0, 5, 6],
    ['handler', 90],
    ['onSend', 9, 7],
    ['unseen', 0, 8],
    ['unseen too', 0],
  ]
  const own = ['hook', 'handler']
  const libraries = Object.fromEntries(nodes.filter(([name]) => !own.includes(name)).map(([name]) => [name, library]))
  const { dropped, shown } = drawn(nodes, libraries)
  const found = shown.map(([name, row, , share]) => [name, row, share])
  t.same(found, [
    ['hook', 0, 99],
    ['done', 1, 99],
    ['handler', 2, 90],
    ['onSend', 2, 9],
  ])
  t.equal(dropped, 4)
})

t.test('the last sample lasts until the end, and all of them no longer than the request', async t => {
  const raw = {
    ...rawOf([
      ['(root)', 0, 1],
      ['handler', 2],
    ]),
    endTime: 5200,
  }
  t.equal(amountOf(outermostCalls(raw)), 5)
  t.equal(amountOf(outermostCalls(raw, 3)), 3)
})

t.test('what the inspector does to sample is not in the picture', async t => {
  const { shown } = drawn(
    [
      ['(root)', 0, 1, 4],
      ['startSampler', 5, 2],
      ['post', 50, 3],
      ['callback', 5],
      ['handler', 5],
    ],
    { startSampler: profilerFile, post: 'node:inspector' },
  )
  t.same(shown, [['handler', 0, 0, 100]])
})

t.test('functions of a profiler that is linked count as a library, and those of its tests do not', async t => {
  const raw = rawOf(
    [
      ['(root)', 0, 1, 2],
      ['wrapper', 1],
      ['test', 1],
    ],
    { wrapper: profilerFile, test: import.meta.url },
  )
  t.match(outermostCalls(raw), [
    { function: 'wrapper', kind: 'module' },
    { function: 'test', kind: 'own' },
  ])
})

t.test('a hook is charged for what it calls, and not for what follows when it is done', async t => {
  const library = '/node_modules/fastify/hooks.js'
  const raw = rawOf(
    [
      ['(root)', 0, 1],
      ['hook', 1, 2, 3],
      ['parse', 3],
      ['followedDone', 2, 4],
      ['next', 4, 5],
      ['handler', 1],
    ],
    { parse: library, followedDone: profilerFile, next: library },
  )
  const charged = chargedCode(outermostCalls({ ...raw, timeDeltas: raw.samples?.map(() => 1000) ?? [] }), 10)
  const found = charged.map(({ function: name, amount }) => [name, Math.round((amount * 11) / 10)])
  t.same(found, [
    ['hook', 4],
    ['handler', 1],
  ])
})

t.test('functions that are narrower than 0.3 % are not drawn, and counted', async t => {
  const raw = rawOf([
    ['(root)', 0, 1, 2],
    ['wide', 998],
    ['narrow', 1, 3],
    ['below it', 1],
  ])
  const { cells, dropped } = callCells(outermostCalls(raw))
  t.equal(cells.length, 1)
  t.equal(dropped, 2)
  const of = page(samples(), { readSamples: () => JSON.stringify(raw) })
  t.match(
    of,
    '2 more calls are not drawn: those of libraries that only pass on, and what is narrower than 0.3%, or beyond 1,000 cells or 60 rows.',
  )
})

t.test('a picture has 60 rows and 1,000 cells at most', async t => {
  const deep = Array.from({ length: 100 }, (_, id): Node => [`f${id}`, 1, ...(id < 99 ? [id + 1] : [])])
  t.match(drawn(deep), { shown: { length: 60 }, dropped: 39, rows: 60 })
  // Five rows of 300 functions.
  const wide = Array.from({ length: 1501 }, (_, id): Node => {
    const children = id === 0 ? Array.from({ length: 300 }, (_, n) => n + 1) : id <= 1200 ? [id + 300] : []
    return [`f${id}`, id > 1200 ? 1 : 0, ...children]
  })
  t.match(drawn(wide), { shown: { length: 1000 }, dropped: 500, rows: 4 })
})

t.test('the panel says if the request did too little to be sampled', async t => {
  const of = { ...samples(), hot: [], charged: [], total: 0 }
  t.match(textOf(page(of)), 'No samples: the request used the CPU too little to be seen.')
  t.notMatch(page(of), '<h2 id="charged">')
  const markdown = renderProfileMarkdown(context(profile({ samples: of })), panels, 'cpu')
  t.match(markdown, 'No samples: the request used the CPU too little')
  t.match(textOf(page({ ...of, kind: 'allocations' })), 'No samples: the request allocated too little to be seen.')
  t.notMatch(markdown, 'Your code')
})
