import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openDatabase } from '../src/database/database.ts'
import { seed } from '../src/database/migrate.ts'

// Imports a million licenses into a new database on BENCH_DATABASE_URL beside a running server, then requests the last
// one. Prints the time and peak memory of the import, and how soon the license is served.

const licenses = 1_000_000
const port = 4590
/** Runs in the import's process. */
const tellPeak = 'process.on("exit", () => console.log("Peak memory:", process.resourceUsage().maxRSS >> 10, "MB."))'

const serverUrl = process.env['BENCH_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const name = `portico_bench_import_${process.pid}`
const databaseUrl = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href
const folder = mkdtempSync(join(tmpdir(), 'portico-import-'))
const file = join(folder, 'licenses.ndjson')
const admin = new pg.Client(serverUrl)
await admin.connect()
await admin.query(`create database ${name}`)
try {
  await measure()
} finally {
  await admin.query(`drop database ${name} with (force)`)
  await admin.end()
  rmSync(folder, { recursive: true })
}

async function measure(): Promise<void> {
  const database = await openDatabase({ databaseUrl, dataDir: folder, patient: true })
  await seed(database.db)
  await database.close()
  await pipeline(Readable.from(lines()), createWriteStream(file))

  const env = { ...process.env, DATABASE_URL: databaseUrl, PORT: String(port), LOG_LEVEL: 'warn' }
  const server = fork(fileURLToPath(new URL('../server.js', import.meta.url)), { env, cwd: folder })
  try {
    while ((await statusOf('localhost').catch(() => 0)) !== 200);
    const last = `site-${licenses - 1}.example`
    console.log(`Before: GET / of ${last} is ${await statusOf(last)}.`)
    const program = fileURLToPath(new URL('../cli/main.js', import.meta.url))
    const words = [`--import=data:text/javascript,${tellPeak}`, program, 'license', 'import', file]
    const command = spawn(process.execPath, words, { env, cwd: folder, stdio: 'inherit' })
    await once(command, 'exit')
    const asked = performance.now()
    console.log(`After: GET / of ${last} is ${await statusOf(last)}, in ${(performance.now() - asked).toFixed(0)} ms.`)
  } finally {
    server.kill()
    await once(server, 'exit')
  }
}

function* lines() {
  for (let index = 0; index < licenses; index++) {
    yield `${JSON.stringify({ domain: `site-${index}.example`, name: `Museum ${index}`, type_id: '1' })}\n`
  }
}

async function statusOf(host: string): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', headers: { host } }, response => {
      response.resume().once('end', () => resolve(response.statusCode))
    }).once('error', reject)
  })
}
