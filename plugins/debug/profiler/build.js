// Builds what is published. Types are replaced by spaces, so that a line and column in dist is the same line and column
// in the source: a stack needs no source map, and the package is half as large.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import blankSpace from 'ts-blank-space'

process.chdir(import.meta.dirname)
rmSync('dist', { recursive: true, force: true })
execFileSync('tsc', { stdio: 'inherit' })
for (const file of readdirSync('.', { recursive: true, encoding: 'utf8' })) {
  if (!/^(?!dist|examples|node_modules|test).*\.ts$/.test(file)) continue
  const built = join('dist', file.replace(/ts$/, 'js'))
  mkdirSync(dirname(built), { recursive: true })
  writeFileSync(built, withBuiltImports(blankSpace(readFileSync(file, 'utf8'))))
}

/** Imports "./x.js" for "./x.ts", which is as long. */
function withBuiltImports(code) {
  return code.replace(/((?:\bfrom|\bimport|\bimport\() ?['"`]\.[^'"`\n]*)\.ts(?=['"`])/g, '$1.js')
}
