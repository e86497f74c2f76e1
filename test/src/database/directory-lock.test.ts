import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { lockDirectory } from '../../../src/database/directory-lock.ts'
import { StartError } from '../../../src/errors/start-error.ts'
import { makeFolder } from '../../support/folder.ts'

/** Leaves a dead socket, as a killed process does: one that has moved is not removed at the end. */
async function leaveDeadSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.moved`)
  await once(server, 'listening')
  renameSync(`${path}.moved`, path)
  server.close()
  await once(server, 'close')
}

/** A socket that another process would listen on. */
async function listenOn(t: Test, path: string): Promise<Server> {
  const server = createServer(socket => socket.destroy()).listen(path)
  await once(server, 'listening')
  t.teardown(() => server.close())
  return server
}

/** Calls back after the attempt to connect to a socket and before its outcome. */
function onConnecting(t: Test, callback: () => void): void {
  diagnostics.subscribe('net.client.socket', callback)
  t.teardown(() => diagnostics.unsubscribe('net.client.socket', callback))
}

/** Asserts that a folder cannot be locked, because another process has it open. */
async function isLocked(t: Test, directory: string): Promise<void> {
  const sentence = `DATA_DIR ${directory} cannot be locked: another process has it open.`
  await t.rejects(lockDirectory(directory), new StartError(sentence))
}

t.test('Only one process at a time can lock a folder, and refused ones do not remove the lock', async t => {
  const directory = makeFolder(t)
  const lock = await lockDirectory(directory)
  await isLocked(t, directory)
  await isLocked(t, directory)
  lock.release()
  const again = await lockDirectory(directory)
  again.release()
  t.strictSame(readdirSync(directory), [])
})

t.test('Processes wait at the lock until it is released, or are handed over', async t => {
  const directory = makeFolder(t)
  const lock = await lockDirectory(directory)
  const served: Socket[] = []
  const [early, late] = [connect(join(directory, 'lock')), connect(join(directory, 'lock'))]
  await Promise.all([once(early, 'connect'), once(late, 'connect')])
  lock.onWaiting(socket => served.push(socket.end('served')))
  const last = connect(join(directory, 'lock'))
  t.strictSame(await Promise.all([early, late, last].map(socket => text(socket))), ['served', 'served', 'served'])
  t.equal(served.length, 3)
  const again = connect(join(directory, 'lock'))
  await once(again, 'connect')
  lock.release()
  await once(again.resume(), 'close')
})

t.test('A process that is killed while it waits does no harm', async t => {
  const directory = makeFolder(t)
  const lock = await lockDirectory(directory)
  // Keeps the test running: neither the lock nor who waits for it does.
  await listenOn(t, join(directory, 'other'))
  const closed = new Promise(resolve => {
    lock.onWaiting(socket => socket.resume().on('close', resolve))
  })
  const socket = connect(join(directory, 'lock'))
  await once(socket, 'connect')
  socket.destroy()
  await closed
  lock.release()
})

t.test('The lock of a killed process is taken over', async t => {
  const directory = makeFolder(t)
  await leaveDeadSocket(join(directory, 'lock'))
  t.ok(existsSync(join(directory, 'lock')))
  const lock = await lockDirectory(directory)
  await isLocked(t, directory)
  lock.release()
  t.strictSame(readdirSync(directory), [])
})

t.test('A dead lock that another process takes over at the same moment is left to it', async t => {
  const directory = makeFolder(t)
  const path = join(directory, 'lock')
  await leaveDeadSocket(path)
  await listenOn(t, `${path}.other`)
  let isFirst = true
  onConnecting(t, () => {
    // The other process is faster: it has replaced the dead socket by now.
    if (isFirst) process.nextTick(() => renameSync(`${path}.other`, path))
    isFirst = false
  })
  await isLocked(t, directory)
  t.strictSame(readdirSync(directory), ['lock'])
  await isLocked(t, directory)
})

t.test('A dead lock that another process moves aside at the same moment is left to it', async t => {
  const directory = makeFolder(t)
  const path = join(directory, 'lock')
  await leaveDeadSocket(path)
  onConnecting(t, () => process.nextTick(() => rmSync(path)))
  await t.rejects(lockDirectory(directory), {
    name: 'StartError',
    message: /^DATA_DIR .* cannot be locked: ENOENT: .*\.$/,
  })
})

t.test('A lock that disappears during the check is left to whoever comes next', async t => {
  const directory = makeFolder(t)
  const path = join(directory, 'lock')
  await leaveDeadSocket(path)
  onConnecting(t, () => rmSync(path))
  await isLocked(t, directory)
})

t.test('A path with more bytes than that of a socket may have is refused', async t => {
  const message = /^DATA_DIR must be a shorter path: .* has more than 103 bytes\.$/
  for (const name of ['d'.repeat(120), 'é'.repeat(50)]) {
    await t.rejects(lockDirectory(join(makeFolder(t), name)), { name: 'StartError', message }, name)
  }
})

t.test('A path that is too long when absolute may be short enough when relative', async t => {
  const here = process.cwd()
  const directory = join(makeFolder(t), 'd'.repeat(100))
  mkdirSync(directory)
  process.chdir(directory)
  t.teardown(() => process.chdir(here))
  const lock = await lockDirectory(directory)
  await isLocked(t, '.')
  lock.release()
})

t.test('A regular file is not mistaken for a dead lock, and stays', async t => {
  const folder = makeFolder(t)
  writeFileSync(join(folder, 'lock'), 'mine')
  await t.rejects(lockDirectory(folder), { name: 'StartError', message: /is not a socket\.$/ })
  t.equal(readFileSync(join(folder, 'lock'), 'utf8'), 'mine')
})
