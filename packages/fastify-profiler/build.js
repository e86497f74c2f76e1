// Builds the published package. Types are replaced by spaces, so that lines and columns in dist are those of the
// source. Stacks then need no source maps, which halves the package's size. Comments, a quarter of the rest, go: the
// declarations keep theirs.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { transformSync } from 'esbuild'
import blankSpace from 'ts-blank-space'
import ts from 'typescript'

/**
 * Folders that only render: pages for browsers, Markdown for agents, lines for terminals. Requests of the application
 * do not run through their functions, so no stack names their lines and columns. All other files keep theirs.
 */
const minifiedFolders = [
  'ask',
  'command-line',
  'mcp',
  ...['cards', 'har', 'markdown', 'pages', 'panels', 'parts'].map(name => `show/${name}`),
]

process.chdir(import.meta.dirname)
rmSync('dist', { recursive: true, force: true })
execFileSync('tsc', { stdio: 'inherit' })
for (const file of readdirSync('.', { recursive: true, encoding: 'utf8' })) {
  if (!/^(?!(?:dist|examples|node_modules|test)\/).*\.ts$/.test(file)) continue
  const built = join('dist', file.replace(/ts$/, 'js'))
  mkdirSync(dirname(built), { recursive: true })
  const source = readFileSync(file, 'utf8')
  const isMinified = minifiedFolders.some(folder => file.startsWith(`${folder}/`))
  const code = isMinified ? minified(source) : withoutComments(blankSpace(source))
  writeFileSync(built, withBuiltImports(code))
}

// Users see the types of the entries. Those that no entry refers to would be a fifth of the package.
const declared = new Set()
declare('dist/index.d.ts')
declare('dist/register.d.ts')
declare('dist/testing.d.ts')
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

/** Removes types, comments and everything else that only readers need, which is a third. */
function minified(source) {
  return transformSync(source, { loader: 'ts', format: 'esm', target: 'node20.19', minify: true }).code
}

/** Removes comments, and spaces at the ends of lines. All code stays where it is. */
function withoutComments(code) {
  const comments = []
  visit(ts.createSourceFile('file.js', code, ts.ScriptTarget.Latest))
  const kept = code.split('')
  for (const { pos, end } of comments) {
    for (let at = pos; at < end; at++) if (kept[at] !== '\n') kept[at] = ' '
  }
  return kept.join('').replace(/ +$/gm, '')

  function visit(node) {
    comments.push(...(ts.getLeadingCommentRanges(code, node.pos) ?? []))
    ts.forEachChild(node, visit)
  }
}

/** Replaces "./x.ts" in imports with "./x.js", which has the same length. */
function withBuiltImports(code) {
  return code.replace(/((?:\bfrom|\bimport|\bimport\() ?['"`]\.[^'"`\n]*)\.ts(?=['"`])/g, '$1.js')
}
