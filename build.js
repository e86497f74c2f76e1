// Transpiles each TypeScript file: `x.ts` becomes `dist/x.js`. The profiler, as a package, has its own dist folder.
// Arguments add more folders: `node build.js test bench`. `npm run types` checks types.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

const profiler = 'plugins/debug/profiler'
const folders = ['src', 'plugins', 'routes', ...process.argv.slice(2)]

await Promise.all([
  transpile(
    '.',
    folders.flatMap(sourcesIn).filter(file => !file.startsWith(profiler)),
  ),
  transpile(
    profiler,
    sourcesIn(profiler).filter(file => folders.includes('test') || !file.startsWith(join(profiler, 'test'))),
  ),
])

function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .map(name => join(folder, name))
    .filter(file => file.endsWith('.ts') && !/\.d\.ts$|\b(?:dist|examples|node_modules)\b/.test(file))
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
