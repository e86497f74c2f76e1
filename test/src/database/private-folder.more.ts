import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { openDatabase } from '../../../src/database/database.ts'
import { makeFolder } from '../../support/folder.ts'

const open = (dataDir: string) => openDatabase({ databaseUrl: undefined, dataDir })

/** A folder and everything in it. */
function treeOf(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return [directory, ...names.map(name => join(directory, name))]
}

/** The paths that group or others may read, write or enter. */
function openPathsOf(directory: string): string[] {
  return treeOf(directory).filter(path => (statSync(path).mode & 0o077) !== 0)
}

/** Continues as a user other than root who owns the folder. */
function becomeOrdinaryUser(t: Test, folder: string): void {
  if (process.geteuid?.() !== 0) return
  const nobody = 65534
  chownSync(folder, nobody, nobody)
  process.seteuid?.(nobody)
  t.teardown(() => process.seteuid?.(0))
}

t.test('Other users cannot open the embedded database or the files that it writes later', async t => {
  const umask = process.umask(0)
  t.teardown(() => process.umask(umask))
  const dataDir = join(makeFolder(t), 'new', 'data')
  const database = await open(dataDir)
  t.strictSame(openPathsOf(dataDir), [], 'after the start')
  const before = treeOf(dataDir).length
  await sql`create table later (name text)`.execute(database.db)
  await sql`insert into later select repeat('x', 1000) from generate_series(1, 20000)`.execute(database.db)
  await sql`vacuum later`.execute(database.db)
  t.ok(treeOf(dataDir).length > before)
  t.strictSame(openPathsOf(dataDir), [], 'after new tables and WAL segments')
  await database.close()
  t.strictSame(openPathsOf(dataDir), [], 'after the end')
})

t.test('A DATA_DIR owned by another user is refused with an explanation', async t => {
  becomeOrdinaryUser(t, makeFolder(t))
  const problem = 'DATA_DIR /usr cannot be locked: this user may not write to it, or it does not exist.'
  await t.rejects(open('/usr'), { name: 'StartError', message: problem })
})

t.test('A database owned by another user is refused with an explanation', async t => {
  const dataDir = makeFolder(t)
  symlinkSync('/usr', join(dataDir, 'pglite'))
  becomeOrdinaryUser(t, dataDir)
  const problem = `The embedded database in ${dataDir} cannot be opened: ${join(dataDir, 'pglite')} belongs to another user.`
  await t.rejects(open(dataDir), { name: 'StartError', message: problem })
})

t.test('A folder of the database that others may enter is closed to them', async t => {
  const dataDir = makeFolder(t)
  const pglite = join(dataDir, 'pglite')
  mkdirSync(pglite)
  chmodSync(pglite, 0o755)
  await (await open(dataDir)).close()
  t.equal(statSync(pglite).mode & 0o777, 0o700)
})
