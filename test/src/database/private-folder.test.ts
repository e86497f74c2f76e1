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

/** Everything in a folder, and the folder itself. */
function treeOf(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return [directory, ...names.map(name => join(directory, name))]
}

/** What of it the group or others may read, write or enter. */
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

/** Goes on as a user who is not root, to whom the folder belongs. */
function becomeOrdinaryUser(t: Test, folder: string): void {
  if (process.geteuid?.() !== 0) return
  const nobody = 65534
  chownSync(folder, nobody, nobody)
  process.seteuid?.(nobody)
  t.teardown(() => process.seteuid?.(0))
}

t.test('No other user can open the embedded database, nor what it writes while it runs', async t => {
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

t.test('A database of an older version is closed to other users, and works', async t => {
  const dataDir = makeEmbeddedFolder(t)
  openToEverybody(dataDir)
  const database = await open(dataDir)
  t.strictSame(openPathsOf(dataDir), [])
  t.match(await database.db.selectFrom('licenses').select('domain').execute(), [{}, {}, {}])
  await database.close()
})

for (const name of ['pictures', '.env', 'pglite-backup']) {
  t.test(`A folder that holds "${name}", too, is not Portico's to close`, async t => {
    const directory = makeOwnFolder(t, 0o755)
    mkdirSync(join(directory, name))
    chmodSync(join(directory, name), 0o755)
    makeDataDirectory(directory)
    t.strictSame(openPathsOf(directory), [directory, join(directory, name)])
  })
}

for (const mode of [0o1777, 0o2775]) {
  t.test(`A folder whose mode is ${mode.toString(8)} keeps it, with nothing else in it`, async t => {
    const directory = makeOwnFolder(t, mode)
    makeDataDirectory(directory)
    t.equal(modeOf(directory), mode.toString(8))
  })
}

t.test('A folder with nothing in it but what Portico put there is closed', async t => {
  const directory = makeOwnFolder(t, 0o755)
  for (const name of ['profiles', 'lock', 'lock.123']) mkdirSync(join(directory, name))
  makeDataDirectory(directory)
  t.equal(modeOf(directory), '700')
})

t.test('A folder that another user lends is used, and left as it is', async t => {
  const directory = makeOwnFolder(t, 0o755)
  becomeOrdinaryUser(t, makeFolder(t))
  t.doesNotThrow(() => makeDataDirectory('/usr'))
  if (process.geteuid?.() === 65534) makeDataDirectory(directory)
  t.equal(modeOf(directory), '755')
})

t.test('What a link leads to is left as it is', async t => {
  const elsewhere = makeFolder(t)
  chmodSync(elsewhere, 0o755)
  const directory = makeOwnFolder(t, 0o755)
  symlinkSync(elsewhere, join(directory, 'pglite', 'link'))
  makePrivateFolder(directory)
  t.equal(modeOf(elsewhere), '755')
})

t.test('A DATA_DIR of another user is refused with a sentence that says so', async t => {
  becomeOrdinaryUser(t, makeFolder(t))
  const problem = 'DATA_DIR /usr cannot be locked: this user may not write to it, or it is gone.'
  await t.rejects(open('/usr'), { name: 'StartError', message: problem })
})

t.test('A database of another user is refused with a sentence that says so', async t => {
  const dataDir = makeFolder(t)
  symlinkSync('/usr', join(dataDir, 'pglite'))
  becomeOrdinaryUser(t, dataDir)
  const problem = `The embedded database in ${dataDir} cannot be opened: ${join(dataDir, 'pglite')} belongs to another user.`
  await t.rejects(open(dataDir), { name: 'StartError', message: problem })
})

for (const debug of ['0', '1']) {
  t.test(`A start with DEBUG=${debug} closes a DATA_DIR with profiles that its database is not in`, async t => {
    const dataDir = makeFolder(t)
    const profiles = join(dataDir, 'profiles')
    mkdirSync(profiles)
    writeFileSync(join(profiles, 'profiles-v0-0-0-0.ndjson'), '')
    openToEverybody(dataDir)
    await build(t, { database, environment: { DATA_DIR: dataDir, DEBUG: debug } })
    t.strictSame(openPathsOf(dataDir), [])
  })
}

t.test('A folder "profiles" without a profile in it, beside what Portico did not make, stays as it is', async t => {
  const dataDir = makeFolder(t)
  const pictures = join(dataDir, 'profiles', 'pictures')
  mkdirSync(pictures, { recursive: true })
  mkdirSync(join(dataDir, 'other'))
  openToEverybody(dataDir)
  await build(t, { database, environment: { DATA_DIR: dataDir } })
  t.strictSame(openPathsOf(dataDir).sort(), treeOf(dataDir).sort())
})
