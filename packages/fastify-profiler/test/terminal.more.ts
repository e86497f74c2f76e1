import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { makeFolder } from './folder.ts'
import { storeProfiles } from './stores.ts'
import { folderOf } from './typed-command.ts'
import { profile } from './views/example-profile.ts'

const main = join(import.meta.dirname, '../fastify-profiler.js')

t.test('the command of the package answers a pipe as it answers agents', async t => {
  t.match(readFileSync(main, 'utf8'), /^#!\/usr\/bin\/env node\n/)
  const child = spawn(process.execPath, [main, 'list'], { cwd: folderOf(), stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  t.match(output, /^# 3 requests found.*```data\n.*failed/s)
  t.equal(code, 0)
})

t.test('a reader that has read enough ends the command quietly', async t => {
  const folder = makeFolder()
  const profiles = Array.from({ length: 200 }, (_, index) =>
    profile({ token: `t${index}`, url: `/${'x'.repeat(400)}`, time: Date.now() - index }),
  )
  storeProfiles(join(folder, '.profiler'), profiles)
  const words = [main, 'list', '--max-tokens', '50000']
  const child = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  t.same([errors, code], ['', 0])
})

t.test(
  'a full disk is told, with exit code 1',
  { skip: existsSync('/dev/full') ? false : 'Only Linux has /dev/full.' },
  async t => {
    const full = openSync('/dev/full', 'w')
    const stdio = ['ignore', full, 'pipe'] as const
    const { status, stderr } = spawnSync(process.execPath, [main, 'list'], { cwd: folderOf(), stdio: [...stdio] })
    t.match(String(stderr), /^fastify-profiler: Error: ENOSPC.*\n$/)
    t.equal(status, 1)
  },
)
