import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import t from 'tap'
import { optionalFeatures } from './optional-features.ts'

const folder = dirname(dirname(import.meta.dirname))
const libraries = ['fastify', 'fastify-plugin', 'find-my-way', 'negotiator', 'pino']

const imports = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(name => /^(?!(?:bench|dist|test|examples|node_modules)\/).*\.ts$/.test(name))
  .flatMap(name => importsOf(name).map(from => ({ name, from })))

function importsOf(name: string): string[] {
  const text = readFileSync(join(folder, name), 'utf8')
  const statements = text.matchAll(/^(?:import|export)\b[^'\n]*(?:\n[^'\n]*)*?from '([^']+)'/gm)
  return [...statements].map(([, from = '']) => from)
}

/** The file that an import names, from the package's folder; null for what lies outside. */
function fileOf(name: string, from: string): string | null {
  if (!from.startsWith('.')) return null
  const file = relative(folder, resolve(folder, name, '..', from))
  return file.startsWith('..') ? null : file
}

t.test('the profiler imports Node, Fastify, its libraries and itself, and nothing of the application', async t => {
  t.ok(imports.length > 100)
  for (const { name, from } of imports) {
    const isKnown = fileOf(name, from) !== null || from.startsWith('node:') || libraries.includes(from)
    t.ok(isKnown, `${name} imports ${from}`)
  }
})

t.test('no file of the profiler imports itself through others', async t => {
  const imported = new Map<string, string[]>()
  for (const { name, from } of imports) {
    const file = fileOf(name, from)
    if (file !== null) imported.set(name, [...(imported.get(name) ?? []), file])
  }
  const done = new Set<string>()
  const follow = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) t.fail([...path.slice(path.indexOf(file)), file].join(' → '))
    if (path.includes(file) || done.has(file)) return
    for (const next of imported.get(file) ?? []) follow(next, [...path, file])
    done.add(file)
  }
  for (const file of imported.keys()) follow(file, [])
  t.equal(done.size > 100, true)
})

t.test('a feature that can be deleted is imported by the list of features and its own entry alone', async t => {
  for (const { name, from } of imports) {
    const [, feature = '', rest] = fileOf(name, from)?.split('/') ?? []
    const entry = rest === undefined ? undefined : optionalFeatures[feature]
    if (entry === undefined || name === 'features/index.ts' || name === entry) continue
    t.ok(name.startsWith(`features/${feature}/`), `${name} imports ${from}`)
  }
})

t.test('the core imports no feature: they come through the door', async t => {
  for (const { name, from } of imports) {
    if (name.startsWith('core/')) t.notOk(fileOf(name, from)?.startsWith('features/'), `${name} imports ${from}`)
  }
})
