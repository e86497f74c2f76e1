import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t from 'tap'

const folder = dirname(dirname(import.meta.dirname))
const libraries = ['fastify', 'fastify-plugin', 'find-my-way', 'negotiator', 'pino']

t.test('the profiler imports Node, Fastify, its dependencies and itself, and nothing of the application', async t => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    /^(?!dist|test|examples|node_modules).*\.ts$/.test(name),
  )
  t.ok(files.length > 20)
  for (const name of files) {
    const file = join(folder, name)
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\b[^'\n]*(?:\n[^'\n]*)*?from '([^']+)'/gm,
    )) {
      const inside = from.startsWith('.') && resolve(file, '..', from).startsWith(folder)
      t.ok(inside || from.startsWith('node:') || libraries.includes(from), `${name} imports ${from}`)
    }
  }
})
