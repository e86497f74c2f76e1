// Builds the published package. Types are replaced by spaces, so that lines and columns in dist are those of the
// source. Stacks then need no source maps, which halves the package's size.
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

/** Replaces "./x.ts" in imports with "./x.js", which has the same length. */
function withBuiltImports(code) {
  return code.replace(/((?:\bfrom|\bimport|\bimport\() ?['"`]\.[^'"`\n]*)\.ts(?=['"`])/g, '$1.js')
}
