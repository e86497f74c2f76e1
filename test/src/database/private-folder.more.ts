import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { openDatabase } from '../../../src/database/database.ts'
import { makeDataDirectory, makePrivateFolder } from '../../../src/database/private-folder.ts'
import { build } from '../../support/build.ts'
import { makeFolder } from '../../support/folder.ts'
import { makeEmbeddedFolder, openTestDatabase } from '../../support/test-database.ts'

const database = await openTestDatabase(t)

const open = (dataDir: string) => openDatabase({ databaseUrl: undefined, dataDir })

function modeOf(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8)
}

/** A folder and everything in it. */
function treeOf(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return [directory, ...names.map(name => join(directory, name))]
}

/** The paths that group or others may read, write or enter. */
function openPathsOf(directory: string): string[] {
  return treeOf(directory).filter(path => (statSync(path).mode & 0o077) !== 0)
}

/** Leaves a folder as an older version did. */
function openToEverybody(directory: string): void {
  for (const path of treeOf(directory)) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o666)
}

/** A folder as an older version made it, with an empty database. */
function makeOwnFolder(t: Test, mode: number): string {
  const directory = makeFolder(t)
  mkdirSync(join(directory, 'pglite'), { mode: 0o700 })
  chmodSync(directory, mode)
  return directory
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

t.test('A database of an older version is closed to other users and works', async t => {
  const dataDir = makeEmbeddedFolder(t)
  openToEverybody(dataDir)
  const database = await open(dataDir)
  t.strictSame(openPathsOf(dataDir), [])
  t.match(await database.db.selectFrom('licenses').select('domain').execute(), [{}, {}, {}])
  await database.close()
})

for (const name of ['pictures', '.env', 'pglite-backup']) {
  t.test(`A folder that also holds "${name}" keeps its mode`, async t => {
    const directory = makeOwnFolder(t, 0o755)
    mkdirSync(join(directory, name))
    chmodSync(join(directory, name), 0o755)
    makeDataDirectory(directory)
    t.strictSame(openPathsOf(directory), [directory, join(directory, name)])
  })
}

for (const mode of [0o1777, 0o2775]) {
  t.test(`A folder with mode ${mode.toString(8)} keeps it, even with only the database in it`, async t => {
    const directory = makeOwnFolder(t, mode)
    makeDataDirectory(directory)
    t.equal(modeOf(directory), mode.toString(8))
  })
}

t.test("A folder with only Portico's files in it is closed to other users", async t => {
  const directory = makeOwnFolder(t, 0o755)
  for (const name of ['profiles', 'lock', 'lock.123']) mkdirSync(join(directory, name))
  makeDataDirectory(directory)
  t.equal(modeOf(directory), '700')
})

t.test('A folder that another user shares is used, and keeps its mode', async t => {
  const directory = makeOwnFolder(t, 0o755)
  becomeOrdinaryUser(t, makeFolder(t))
  t.doesNotThrow(() => makeDataDirectory('/usr'))
  if (process.geteuid?.() === 65534) makeDataDirectory(directory)
  t.equal(modeOf(directory), '755')
})

t.test('The target of a symbolic link keeps its mode', async t => {
  const elsewhere = makeFolder(t)
  chmodSync(elsewhere, 0o755)
  const directory = makeOwnFolder(t, 0o755)
  symlinkSync(elsewhere, join(directory, 'pglite', 'link'))
  makePrivateFolder(directory)
  t.equal(modeOf(elsewhere), '755')
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

for (const debug of ['0', '1']) {
  t.test(`A start with DEBUG=${debug} closes a DATA_DIR that holds profiles but no database`, async t => {
    const dataDir = makeFolder(t)
    const profiles = join(dataDir, 'profiles')
    mkdirSync(profiles)
    writeFileSync(join(profiles, 'profiles-v0-0-0-0.ndjson'), '')
    openToEverybody(dataDir)
    await build(t, { database, environment: { DATA_DIR: dataDir, DEBUG: debug } })
    t.strictSame(openPathsOf(dataDir), [])
  })
}

t.test('A folder "profiles" without profiles keeps its mode if DATA_DIR holds other files', async t => {
  const dataDir = makeFolder(t)
  const pictures = join(dataDir, 'profiles', 'pictures')
  mkdirSync(pictures, { recursive: true })
  mkdirSync(join(dataDir, 'other'))
  openToEverybody(dataDir)
  await build(t, { database, environment: { DATA_DIR: dataDir } })
  t.strictSame(openPathsOf(dataDir).sort(), treeOf(dataDir).sort())
})
