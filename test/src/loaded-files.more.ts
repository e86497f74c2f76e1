import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { makeFolder } from '../support/folder.ts'
import { createDatabase, makeEmbeddedFolder, serverUrl } from '../support/test-database.ts'
import { uncountedNode } from '../support/uncounted.ts'

// A loader hook of Node records the files: every import in every thread passes it.
const writeDown = `import { appendFileSync } from 'node:fs'
export async function load (url, context, next) {
  appendFileSync(process.env.LOADED_FILES, url + '\\n')
  return next(url, context)
}`

/** The files that the server loads to start and to answer requests. */
async function loadedFiles(t: Test): Promise<string[]> {
  const dataDir = makeEmbeddedFolder(t)
  const databaseUrl = serverUrl && (await createDatabase(t, serverUrl))
  const list = join(makeFolder(t), 'loaded')
  const env = {
    ...process.env,
    LOADED_FILES: list,
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    PORT: '0',
    DEBUG: '0',
  }
  const register = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(writeDown)}`)})`
  const child = spawn(
    'env',
    [...uncountedNode, `--import=data:text/javascript,${encodeURIComponent(register)}`, 'dist/server.js'],
    { env, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  t.teardown(() => child.kill('SIGKILL'))
  let log = ''
  while (!log.includes('Server listening')) log += String(await once(child.stdout, 'data'))
  const [origin = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(log) ?? []
  for (const path of ['/', '/nowhere', '/_profiler/x']) await fetch(origin + path).then(response => response.text())
  child.kill('SIGTERM')
  await once(child, 'close')
  return readFileSync(list, 'utf8')
    .split('\n')
    .filter(url => !url.includes('/node_modules/'))
}

t.test('with DEBUG=0 no file of plugins/debug is loaded', async t => {
  const files = await loadedFiles(t)
  for (const file of ['/app.js', '/plugins/not-found.js', '/routes/front-page.js']) {
    t.ok(
      files.some(url => url.endsWith(file)),
      file,
    )
  }
  t.strictSame(
    files.filter(url => url.includes('/plugins/debug/')),
    [],
  )
})

t.test('Without METRICS_PORT the metrics library is not loaded', async t => {
  const program = `
    import { createRequire } from 'node:module'
    import pg from 'pg'
    import { buildApp } from '${new URL('../../app.js', import.meta.url).href}'
    import { Changes } from '${new URL('../../src/database/changes.js', import.meta.url).href}'
    import { assemble } from '${new URL('../../src/database/database.js', import.meta.url).href}'
    const app = await buildApp({ database: assemble(new pg.Pool(), new Changes()) })
    console.log(Object.keys(createRequire(import.meta.url).cache).filter(file => /fastify|prom-client/.test(file)))
    await app.close()
  `
  const node = [...uncountedNode, '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)('env', node)
  t.match(stdout, /fastify/)
  t.notMatch(stdout, /prom-client/)
})
