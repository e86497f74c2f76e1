import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'

t.test('build.js builds every .ts file, whatever its name, and names the sources that it leaves out', async t => {
  const source = 'export const value: number = 1\n'
  const folder = t.testdir({
    src: { 'node_modules.ts': source, dist: { 'part.ts': source } },
    packages: { 'fastify-profiler': { examples: { 'panel.ts': source }, 'index.ts': source } },
    plugins: {},
    cli: {},
    'app.ts': source,
    'index.ts': source,
    'server.ts': source,
    'testing.ts': source,
    routes: {
      'examples.ts': source,
      examples: { 'index.ts': source, 'types.d.ts': source },
      'page.tsx': '',
      'old.mjs': '',
      node_modules: { 'part.ts': source },
    },
  })
  cpSync('build.js', join(folder, 'build.js'))
  const { status, stderr } = spawnSync(process.execPath, ['build.js'], { cwd: folder, encoding: 'utf8' })
  t.equal(status, 0)
  const isBuilt = (path: string) => existsSync(join(folder, path))
  for (const name of ['src/node_modules', 'src/dist/part', 'routes/examples', 'routes/examples/index']) {
    t.ok(isBuilt(`dist/${name}.js`), name)
  }
  t.ok(isBuilt('packages/fastify-profiler/dist/index.js'))
  t.notOk(isBuilt('packages/fastify-profiler/dist/examples') || isBuilt('dist/routes/node_modules'))
  t.strictSame(stderr.split('\n').sort(), [
    '',
    'build.js builds .ts files, and leaves out routes/old.mjs.',
    'build.js builds .ts files, and leaves out routes/page.tsx.',
  ])
})

t.test('build.js builds a file again if it has another time than when it was built, and no other', async t => {
  const folder = t.testdir({ 'site.ts': 'export const first = 1\n', deep: { 'part.ts': 'export const part = 1\n' } })
  const build = () => spawnSync(process.execPath, [resolve('build.js')], { cwd: folder }).status
  const built = (name: string) => join(folder, 'dist', name)
  t.equal(build(), 0)
  const parts = statSync(built('deep/part.js')).ctimeMs
  // As a version control system or an editor restores an old file.
  writeFileSync(join(folder, 'old.ts'), 'export const second = 2\n')
  utimesSync(join(folder, 'old.ts'), 1, 1)
  renameSync(join(folder, 'old.ts'), join(folder, 'site.ts'))
  t.equal(build(), 0)
  t.match(readFileSync(built('site.js'), 'utf8'), 'second')
  t.equal(statSync(built('deep/part.js')).ctimeMs, parts)
})
