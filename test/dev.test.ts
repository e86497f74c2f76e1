import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { makeFolder } from './support/folder.ts'
import { makeEmbeddedFolder } from './support/test-database.ts'

/** Runs `npm run dev` on a copy of the sources. @returns the address that it prints */
async function runDev(t: Test): Promise<{ folder: string; address: string }> {
  const folder = makeFolder(t)
  for (const name of ['package.json', 'build.js', 'dev.js', 'src', 'plugins', 'routes']) {
    cpSync(name, join(folder, name), { recursive: true })
  }
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    DATA_DIR: makeEmbeddedFolder(t),
    DATABASE_URL: '',
    PORT: '0',
    HOST: '127.0.0.1',
  }
  const child = spawn(process.execPath, ['dev.js'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(async () => {
    child.kill('SIGTERM')
    await once(child, 'close')
  })
  for await (const line of createInterface(child.stdout)) {
    const [address] = /http:\S+/.exec(line) ?? []
    if (address !== undefined) {
      child.stdout.resume()
      return { folder, address }
    }
  }
  throw new Error('npm run dev ended.')
}

/** A request on a connection of its own. */
async function ask(url: string): Promise<string> {
  const [response] = await once(get(url, { agent: false }), 'response')
  return await text(response)
}

t.test('npm run dev serves a changed file, and answers every request while it restarts', async t => {
  const { folder, address } = await runDev(t)
  const route = join(folder, 'routes/health.ts')
  const before = await ask(`${address}/health`)
  const changed = readFileSync(route, 'utf8').replace("'alive'", "'changed'")
  t.not(changed, readFileSync(route, 'utf8'), 'the route answers "alive"')
  writeFileSync(route, changed)
  let answer = before
  while (answer === before) answer = await ask(`${address}/health`)
  t.match(answer, 'changed')
})

t.test('npm run dev keeps serving the last good build until a mistake is fixed', async t => {
  const { folder, address } = await runDev(t)
  writeFileSync(join(folder, 'routes/health.ts'), 'export default (')
  t.match(await ask(`${address}/health`), 'alive')
})
