// `portico dev`: runs the server with DEBUG=1 and restarts it when a file changes. This process listens and hands
// connections over, so none is refused during a restart.
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, watch } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** Milliseconds without another change before a restart, because editors write a file in several steps. */
const quietPeriod = 50

const { PARENT_PID, ...env } = process.env
const waiting = []
const watchers = new Map()
let server
let restarting = Promise.resolve()
let timer
let isEnding = false
let isRestarting = false
/** Tells a server whether it is a restart: '' or '1'. */
let hasStarted = ''

build()
const { readConfig } = await import('./dist/src/config.js')
const { endInOrder } = await import('./dist/src/serving/end-in-order.js')
const { host, port } = readConfig(process.env, '.env')

const listening = createServer({ pauseOnConnect: true }, handOver)
  .on('error', ({ message }) => {
    console.error(`HOST and PORT cannot be used: ${message}.`)
    process.exit(1)
  })
  .listen({ host, port }, function () {
    start().once('message', () => {
      // On a terminal, the server itself says more.
      if (!process.stdout.isTTY) console.log(`Server listening at http://${host}:${this.address().port}`)
    })
  })

watchFolders()

const parent = PARENT_PID === undefined ? undefined : Number(PARENT_PID)
endInOrder({ close, log: { error: console.error, fatal: console.error } }, { parent })

function build() {
  return spawnSync(process.execPath, [join(import.meta.dirname, 'build.js')], { stdio: 'inherit' }).status === 0
}

function start() {
  const child = fork(join(import.meta.dirname, 'dist/server.js'), {
    env: { ...env, DEBUG: '1', CONNECTIONS: 'handed', PORT: String(listening.address().port), RESTARTED: hasStarted },
    execArgv: ['--enable-source-maps'],
  })
  server = child
  child.once('message', () => {
    child.isReady = true
    hasStarted = '1'
    for (const socket of waiting.splice(0)) handOver(socket)
  })
  child.once('exit', () => {
    if (child.isStopping) return
    server = undefined
    console.error('The server has exited. The next request starts it again.')
    for (const socket of waiting.splice(0)) socket.destroy()
  })
  return child
}

/** Passes a connection to the server, or keeps it until the server is ready. */
function handOver(socket) {
  if (server?.isReady === true && server.connected) return server.send('connection', socket, ignoreError)
  waiting.push(socket)
  if (server === undefined && !isRestarting) start()
}

/** A server that exits at this moment takes no message. Its exit is reported. */
function ignoreError() {}

/** Tells the server to finish its connections and exit, and waits for that. */
async function stop() {
  const child = server
  if (child === undefined) return
  child.isReady = false
  child.isStopping = true
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  if (child.connected) child.send('end', ignoreError)
  await exited
}

/** Watches each folder by itself: on Linux, Node 20's recursive watch loses a file once an editor has replaced it. */
function watchFolders() {
  const folders = new Set(foldersIn('.'))
  for (const [folder, watcher] of watchers) {
    if (folders.has(folder)) continue
    watcher.close()
    watchers.delete(folder)
  }
  for (const folder of folders) {
    if (watchers.has(folder)) continue
    const watcher = watch(folder, (event, file) => {
      if (/\.(?:ts|js|css)$/.test(file)) restartSoon()
      // A folder may be new or gone.
      else if (event === 'rename') watchFolders()
    })
    watchers.set(folder, watcher)
  }
}

/** A folder and all folders in it that hold sources. */
function foldersIn(folder) {
  const inside = readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !/^(?:\.|(?:bench|data|dist|node_modules|test)$)/.test(entry.name))
    .flatMap(({ name }) => foldersIn(join(folder, name)))
  return [folder, ...inside]
}

function restartSoon() {
  clearTimeout(timer)
  timer = setTimeout(() => {
    restarting = restarting.then(async () => {
      if (isEnding) return
      if (!build()) return console.error('The build failed. The last good build keeps running.')
      isRestarting = true
      await stop()
      start().once('message', () => {
        console.log('Restarted.')
      })
      isRestarting = false
    })
  }, quietPeriod)
}

async function close() {
  isEnding = true
  await restarting
  await stop()
}
