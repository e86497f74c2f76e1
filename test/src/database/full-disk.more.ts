import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openDatabase } from '../../../src/database/database.ts'
import { makeFolder } from '../../support/folder.ts'
import { uncountedNode } from '../../support/uncounted.ts'

const folder = makeFolder(t)
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=80m', 'portico', folder]).status === 0
t.teardown(() => isMounted && spawnSync('umount', ['--lazy', folder]))

const dataDir = join(folder, 'data')
const rows = Array.from({ length: 30_000 }, (_, index) => `museum${index}.test,Museum ${index} ${'x'.repeat(80)},1\n`)
const csv = join(makeFolder(t), 'licenses.csv')
writeFileSync(csv, `domain,name,type_id\n${rows.join('')}`)

/** A process of Portico. */
function start(file: string, ...args: string[]) {
  const path = fileURLToPath(new URL(`../../../${file}`, import.meta.url))
  const env = { ...process.env, DATA_DIR: dataDir, DATABASE_URL: '', PORT: '0' }
  const child = spawn('env', [...uncountedNode, path, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  return { child, output: text(child.stdout), errors: text(child.stderr), ended: once(child, 'close') }
}

t.test('An import that fills the disk', { skip: !isMounted && 'it needs a user who may mount a tmpfs' }, async t => {
  const database = await openDatabase({ databaseUrl: undefined, dataDir })
  await database.db.insertInto('platforms').values({ name: 'acknowledged' }).execute()
  await database.close()

  t.test('is lost together with the server that has the database open', async t => {
    const server = start('server.js')
    await once(server.child.stdout, 'data')
    const command = start('cli/main.js', 'license', 'import', csv)
    t.match(await command.errors, /^portico: The database was lost: [^\n]*: No space left on device[^\n]*\.\n$/)
    t.match(await command.ended, [1])
    t.match(await server.ended, [1])
    const failures = (await server.output).split('\n').filter(line => line.includes('"level":60'))
    t.equal(failures.length, 1)
    t.match(failures[0], /The embedded database in [^\n]* has failed: [^\n]*: No space left on device \(its disk has/)
  })

  t.test('fails without a server, too', async t => {
    const command = start('cli/main.js', 'license', 'import', csv)
    t.match(await command.errors, /^portico: The (?:embedded )?database [^\n]*: No space left on device[^\n]*\.\n$/)
    t.match(await command.ended, [1])
  })

  t.test('succeeds once there is space, and all that was acknowledged is there', async t => {
    execFileSync('mount', ['-o', 'remount,size=400m', folder])
    const command = start('cli/main.js', 'license', 'import', csv)
    t.match(await command.ended, [0])
    const { db, close } = await openDatabase({ databaseUrl: undefined, dataDir })
    const { licenses } = await db
      .selectFrom('licenses')
      .select(({ fn }) => fn.countAll<string>().as('licenses'))
      .executeTakeFirstOrThrow()
    t.equal(licenses, String(3 + rows.length))
    t.match(await db.selectFrom('platforms').selectAll().where('name', '=', 'acknowledged').execute(), [{}])
    await close()
  })
})
