// Builds the published package: the entries share chunks, so that the flag and the plugin meet in one module. Source
// maps would be half a megabyte.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildSync } from 'esbuild'

process.chdir(import.meta.dirname)
rmSync('dist', { recursive: true, force: true })
execFileSync('tsc', { stdio: 'inherit' })
const entries = ['index', 'register', 'testing', 'fastify-profiler']
buildSync({
  entryPoints: entries.map(name => `${name}.ts`),
  outdir: 'dist',
  bundle: true,
  splitting: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Names stay: samples tell functions of the profiler by them.
  minifyWhitespace: true,
  minifySyntax: true,
})

// Users see the types of the entries. Those that no entry refers to would be a fifth of the package.
const declared = new Set()
for (const name of entries) declare(`dist/${name}.d.ts`)
for (const file of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
  const path = join('dist', file)
  if (path.endsWith('.d.ts') && !declared.has(path)) rmSync(path)
}

/** Adds a declaration file, with all that it imports, to those that are kept. */
function declare(path) {
  if (declared.has(path)) return
  declared.add(path)
  for (const [, imported] of readFileSync(path, 'utf8').matchAll(/["'](\.[^"'\n]*)\.[tj]s["']/g)) {
    declare(join(dirname(path), `${imported}.d.ts`))
  }
}
