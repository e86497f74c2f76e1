// Transpiles TypeScript files that have changed: `x.ts` becomes `dist/x.js`. The profiler, as a package, has its own dist
// folder. Arguments add more folders: `node build.js test bench`. In a site that is built on Portico, all of its files are
// built. `npm run types` checks types.
import { existsSync, mkdirSync, readdirSync, realpathSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

const profiler = 'packages/fastify-profiler'
const roof = ['app.ts', 'index.ts', 'server.ts', 'testing.ts']
/** Folders with TypeScript that is built already, or is run as it is. */
const leftOut = ['dist', 'examples', 'test/applications/examples'].map(folder => join(profiler, folder) + sep)

/** Folders of the profiler that only an argument adds. */
const optional = ['test', 'bench']

if (realpathSync(process.argv[1]) === import.meta.filename) await build(process.argv.slice(2))

/** Builds the repository, or the site in the current folder. A failed build ends the process. */
export async function build(more = []) {
  if (process.cwd() !== import.meta.dirname) return await transpile('.', siteSources())
  // A checkout has the sources, and the package only what was built from them.
  if (!existsSync('app.ts')) return
  const folders = ['cli', 'src', 'plugins', 'routes', ...more]
  await Promise.all([
    transpile('.', [...roof, ...folders.flatMap(sourcesIn)]),
    transpile(
      profiler,
      sourcesIn(profiler).filter(file => optional.every(folder => more.includes(folder) || !isBelow(folder, file))),
    ),
  ])
}

/** The TypeScript files of a site, wherever they are but in these folders. */
function siteSources(folder = '.') {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^(?:\.|dist$|data$|node_modules$)/.test(entry.name) ? [] : siteSources(path)
    return path.endsWith('.ts') && !path.endsWith('.d.ts') ? [path] : []
  })
}

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
  const changed = files.map(file => ({ file, ...timesOf(root, file) })).filter(({ isBuilt }) => !isBuilt)
  if (changed.length === 0) return
  // Imported on demand, because it takes longer than most commands.
  const esbuild = await import('esbuild')
  const { outputFiles } = await esbuild
    .build({
      entryPoints: changed.map(({ file }) => `./${file}`),
      outbase: root,
      outdir: join(root, 'dist'),
      format: 'esm',
      // For other platforms, esbuild replaces process.env.NODE_ENV.
      platform: 'node',
      target: 'node20.19',
      sourcemap: true,
      write: false,
    })
    .catch(exitWithoutStack)
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, path.endsWith('.js') ? withBuiltImports(text) : text)
  }
  for (const { built, modified } of changed) utimesSync(built, modified, modified)
}

/** A built file has the time of its source, so that a source that is replaced by an older one is built, too. */
function timesOf(root, file) {
  const built = join(root, 'dist', relative(root, file).replace(/\.ts$/, '.js'))
  const { mtime: modified } = statSync(file)
  const found = statSync(built, { throwIfNoEntry: false })
  return { built, modified, isBuilt: found?.mtime.getTime() === modified.getTime() }
}

/** esbuild has printed the errors in the sources. */
function exitWithoutStack() {
  process.exit(1)
}

/** Replaces "./x.ts" in imports by "./x.js". Both have the same length, so source maps stay correct. */
function withBuiltImports(code) {
  return code.replace(/((?:\bfrom|\bimport|\bimport\() ?["`]\.[^"`\n]*)\.ts(?=["`])/g, '$1.js')
}
