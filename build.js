// Transpiles each TypeScript file: `x.ts` becomes `dist/x.js`. The profiler, as a package, has its own dist folder.
// Arguments add more folders: `node build.js test bench`. `npm run types` checks types.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { build } from 'esbuild'

const profiler = 'packages/fastify-profiler'
const roof = ['app.ts', 'index.ts', 'server.ts', 'testing.ts']
const folders = ['cli', 'src', 'plugins', 'routes', ...process.argv.slice(2)]
/** Folders with TypeScript that is built already, or is run as it is. */
const leftOut = ['dist', 'examples', 'test/applications/examples'].map(folder => join(profiler, folder) + sep)

/** Folders of the profiler that only an argument adds. */
const optional = ['test', 'bench']

await Promise.all([
  transpile('.', [...roof, ...folders.flatMap(sourcesIn)]),
  transpile(
    profiler,
    sourcesIn(profiler).filter(file => optional.every(folder => folders.includes(folder) || !isBelow(folder, file))),
  ),
])

function isBelow(folder, file) {
  return file.startsWith(join(profiler, folder) + sep)
}

function sourcesIn(folder) {
  const files = readdirSync(folder, { recursive: true })
    .map(name => join(folder, name))
    .filter(file => !file.split(sep).includes('node_modules') && leftOut.every(folder => !file.startsWith(folder)))
  for (const file of files) {
    if (/\.(?:[cm]?jsx?|[cm]ts|tsx)$/.test(file) && !file.startsWith(profiler)) {
      console.error(`build.js builds .ts files, and leaves out ${file}.`)
    }
  }
  return files.filter(file => file.endsWith('.ts') && !file.endsWith('.d.ts'))
}

async function transpile(root, files) {
  const { outputFiles } = await build({
    entryPoints: files.map(file => `./${file}`),
    outbase: root,
    outdir: join(root, 'dist'),
    format: 'esm',
    // For other platforms, esbuild replaces process.env.NODE_ENV.
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    write: false,
  }).catch(exitWithoutStack)
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, path.endsWith('.js') ? withBuiltImports(text) : text)
  }
}

/** esbuild has printed the errors in the sources. */
function exitWithoutStack() {
  process.exit(1)
}

/** Replaces "./x.ts" in imports by "./x.js". Both have the same length, so source maps stay correct. */
function withBuiltImports(code) {
  return code.replace(/((?:\bfrom|\bimport|\bimport\() ?["`]\.[^"`\n]*)\.ts(?=["`])/g, '$1.js')
}
