import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openDatabase } from '../../../src/database/database.ts'
import { makeFolder } from '../../support/folder.ts'

const open = (dataDir: string) => openDatabase({ databaseUrl: undefined, dataDir })

/** The folder, and what is directly in it, if group or others may read, write or enter it. */
function openPathsOf(directory: string): string[] {
  const paths = [directory, ...readdirSync(directory).map(name => join(directory, name))]
  return paths.filter(path => (statSync(path).mode & 0o077) !== 0)
}

/** Continues as a user other than root who owns the folder. */
function becomeOrdinaryUser(t: Test, folder: string): void {
  if (process.geteuid?.() !== 0) return
  const nobody = 65534
  chownSync(folder, nobody, nobody)
  process.seteuid?.(nobody)
  t.teardown(() => process.seteuid?.(0))
}

t.test('Other users cannot enter the folder of the embedded database', async t => {
  const umask = process.umask(0)
  t.teardown(() => process.umask(umask))
  const dataDir = join(makeFolder(t), 'new', 'data')
  const database = await open(dataDir)
  t.strictSame(openPathsOf(dataDir), [], 'after the start')
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
