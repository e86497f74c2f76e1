import { spawn } from 'node:child_process'
import { on, once } from 'node:events'
import { cpSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { makeFolder } from './support/folder.ts'
import { makeEmbeddedFolder } from './support/test-database.ts'

/** Runs `npm run dev` on a copy of the sources. @returns the address that it prints, and its lines on stderr */
async function runDev(t: Test): Promise<{ folder: string; address: string; errors: Interface }> {
  const folder = makeFolder(t)
  const roof = ['package.json', 'build.js', 'dev.js', 'app.ts', 'index.ts', 'server.ts', 'testing.ts']
  for (const name of [...roof, 'cli', 'packages', 'plugins', 'routes', 'src']) {
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
  const child = spawn(process.execPath, ['dev.js'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const errors = createInterface(child.stderr)
  t.teardown(async () => {
    child.kill('SIGTERM')
    await once(child, 'close')
  })
  for await (const line of createInterface(child.stdout)) {
    const [address] = /http:\S+/.exec(line) ?? []
    if (address !== undefined) {
      child.stdout.resume()
      return { folder, address, errors }
    }
  }
  throw new Error('npm run dev ended.')
}

/** A request on a connection of its own. */
async function ask(url: string): Promise<string> {
  const [response] = await once(get(url, { agent: false }), 'response')
  return await text(response)
}

t.test('npm run dev serves a changed or replaced file, and answers every request while it restarts', async t => {
  const { folder, address } = await runDev(t)
  const route = join(folder, 'routes/probes.ts')
  const before = await ask(`${address}/health`)
  const changed = readFileSync(route, 'utf8').replace("'alive'", "'changed'")
  t.not(changed, readFileSync(route, 'utf8'), 'the route answers "alive"')
  writeFileSync(route, changed)
  let answer = before
  while (answer === before) answer = await ask(`${address}/health`)
  t.match(answer, 'changed')
  for (const word of ['replaced', 'replaced again']) {
    // As editors and git do.
    writeFileSync(`${route}~`, changed.replace("'changed'", `'${word}'`))
    renameSync(`${route}~`, route)
    while (!answer.includes(`"${word}"`)) answer = await ask(`${address}/health`)
  }
})

t.test('npm run dev keeps serving the last good build until a mistake is fixed', async t => {
  const { folder, address, errors } = await runDev(t)
  const route = join(folder, 'routes/probes.ts')
  const source = readFileSync(route, 'utf8')
  const failed = lineWith(errors, 'The build failed')
  writeFileSync(route, 'export default (')
  await failed
  t.match(await ask(`${address}/health`), 'alive')
  writeFileSync(route, source.replace("'alive'", "'fixed'"))
  while (!/fixed/.test(await ask(`${address}/health`)));
})

t.test('npm run dev closes connections of a server that crashes, and starts a new one for the next', async t => {
  const { folder, address, errors } = await runDev(t)
  const route = join(folder, 'routes/probes.ts')
  const source = readFileSync(route, 'utf8')
  const crashed = lineWith(errors, 'has exited')
  writeFileSync(route, `throw new Error('crash')\n${source}`)
  await crashed
  await t.rejects(ask(`${address}/health`), { code: 'ECONNRESET' })
  const again = lineWith(errors, 'has exited')
  await t.rejects(ask(`${address}/health`), { code: 'ECONNRESET' })
  await again
})

/** Waits for a line with this text. */
async function lineWith(lines: Interface, text: string): Promise<void> {
  for await (const [line] of on(lines, 'line')) if (String(line).includes(text)) return
}
