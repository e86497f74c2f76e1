import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import t from 'tap'

const folder = dirname(dirname(import.meta.dirname))
const libraries = ['fastify', 'fastify-plugin', 'find-my-way', 'negotiator', 'pino']

/** In the order in which data flows. Each imports itself and those before it; all others import all of them. */
const folders = ['base', 'watch', 'mask', 'collect', 'compare', 'explain', 'replay', 'store', 'show', 'ask', 'mcp']

const imports = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(name => /^(?!(?:dist|test|examples|node_modules)\/).*\.ts$/.test(name))
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

t.test(
  'imports between folders run against the flow of data, and none leads to a file outside the folders',
  async t => {
    for (const { name, from } of imports) {
      const file = fileOf(name, from)
      const floor = folders.indexOf(name.split('/')[0] ?? '')
      if (file === null || floor === -1) continue
      const below = folders.indexOf(file.split('/')[0] ?? '')
      t.ok(below !== -1 && below <= floor, `${name} imports ${file}`)
    }
  },
)
