// npm run pictures: starts what both READMEs tell their readers to start, does what they say, and replaces the
// pictures in docs/images, light and dark. The two lines that the package's tutorial quotes are replaced by those of
// the same run. It needs Chromium, and PostgreSQL on this machine or at BENCH_DATABASE_URL.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { chromium, type Page } from 'playwright-core'
import { type Closing, makeFolder } from '../support/folder.ts'
import { createDatabase, dropDatabase } from '../support/throwaway-database.ts'

const executablePath = process.env['CHROMIUM'] || '/usr/bin/chromium'
const images = resolve('docs/images')
const packageReadme = 'packages/fastify-profiler/README.md'

/** The tutorial's application. */
const tutorial = {
  'package.json': '{ "type": "module" }\n',
  'app.js': `import Fastify from 'fastify'
import museums from './routes/museums.js'

const app = Fastify({ logger: true })
await app.register(museums)
await app.listen({ port: Number(process.env.PORT) })
`,
  'routes/museums.js': museumsRoute(`
    for (const museum of museums) {
      museum.paintings = (await pool.query('select * from paintings where museum = $1', [museum.id])).rows
    }
    return museums`),
}

/** Its route as the tutorial mends it. */
const mended = museumsRoute(`
    const ids = museums.map(({ id }) => id)
    const paintings = (await pool.query('select * from paintings where museum = any($1)', [ids])).rows
    return museums.map(museum => ({ ...museum, paintings: paintings.filter(painting => painting.museum === museum.id) }))`)

const tables = `
  create table museums (id int primary key, name text);
  insert into museums select n, 'Museum ' || n from generate_series(1, 20) n;
  create table paintings (id int primary key, museum int, title text);
  insert into paintings select n, n / 10, 'Painting ' || n from generate_series(10, 150000) n;
  analyze`

const closings: (() => unknown)[] = []
const closing: Closing = { teardown: close => closings.unshift(close) }

if (existsSync(executablePath)) await takePictures().finally(close)
else console.log(`There is no Chromium at ${executablePath}, so no pictures are taken.`)

async function takePictures(): Promise<void> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  closing.teardown(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1280, height: 640 } })
  await showPortico(page)
  await followTutorial(page)
}

/** The pages that README.md leads to. */
async function showPortico(page: Page): Promise<void> {
  const portico = await start(['--enable-source-maps', 'dist/server.js'], '.', {
    DEBUG: '1',
    DATA_DIR: makeFolder(closing),
  })
  const origin = portico.origin.replace('127.0.0.1', 'localhost')
  await page.goto(origin)
  // Another site of the demonstration, whose license and museums are not in a cache yet.
  await page.goto(portico.origin)
  await page.getByRole('link', { name: /^Time/ }).click()
  await page.getByRole('heading', { name: /^Where/ }).waitFor()
  await take(page, 'timeline')
  for (const path of ['/', '/login']) await page.goto(origin + path)
  await page.request.get(`${origin}/api/museums`)
  await page.goto(`${origin}/version`)
  await take(page, 'error-page')
  await page.goto(`${origin}/_profiler/`)
  await take(page, 'home')
}

/** Finds the N+1 of the package's README, mends it and compares. */
async function followTutorial(page: Page): Promise<void> {
  const server = process.env['BENCH_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres'
  const url = await createDatabase(server, 'pictures_')
  closing.teardown(() => dropDatabase(server, url))
  const client = new pg.Client(url)
  await client.connect()
  await client.query(tables)
  await client.end()

  const folder = makeFolder(closing)
  mkdirSync(join(folder, 'routes'))
  for (const [name, text] of Object.entries(tutorial)) writeFileSync(join(folder, name), text)
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const flagged = ['--import', 'fastify-profiler/register', 'app.js']
  const first = await start(flagged, folder, { DATABASE_URL: url })
  await page.goto(`${first.origin}/museums`)
  const found = await first.heard(/GET \/museums: N\+1[^"]*\(profile ([^"]*)\)/)
  await page.goto(`${first.origin}/_profiler/${found[1]}?panel=performance`)
  await take(page, 'finding')
  await first.stop()

  writeFileSync(join(folder, 'routes/museums.js'), mended)
  const second = await start(flagged, folder, { DATABASE_URL: url })
  await page.goto(`${second.origin}/_profiler/${found[1]}`)
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByRole('link', { name: 'Compare with the original' }).click()
  await page.getByRole('heading', { name: /^B / }).waitFor()
  const answer = await page.request.get(page.url(), { headers: { accept: 'text/markdown' } })
  const verdict = /B is .* faster.*/.exec(await answer.text())?.[0]
  if (verdict === undefined) throw new Error('The machine is too busy for the comparison of the tutorial. Try again.')
  await take(page, 'comparison')

  const text = readFileSync(packageReadme, 'utf8')
    .replace(/GET \/museums: N\+1.*\(profile .*\)/, () => found[0])
    .replace(/\bB is .* faster.*/, () => verdict)
  writeFileSync(packageReadme, text)
}

function museumsRoute(answer: string): string {
  return `import pg from 'pg'

export default async function museums(app) {
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
  app.get('/museums', async () => {
    const museums = (await pool.query('select id, name from museums order by id')).rows${answer}
  })
  app.addHook('onReady', async () => { await pool.query('select 1') })
}
`
}

/** Takes a picture of the upper part of a page, light and dark. */
async function take(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: join(images, `${name}-${colorScheme}.png`) })
  }
}

/** Starts Node in a folder, and waits until it prints the address that it listens on. */
async function start(words: string[], cwd: string, environment: NodeJS.ProcessEnv) {
  const env = { ...process.env, ...environment, PORT: '0' }
  const child = spawn(process.execPath, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  closing.teardown(() => stop(child))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', data => {
      output += String(data)
      child.emit('output')
    })
  }
  child.on('exit', () => child.emit('output'))
  const heard = async (expected: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = expected.exec(output)
      if (match !== null) return match
      if (child.exitCode !== null) throw new Error(output)
      await once(child, 'output', { signal: AbortSignal.timeout(60_000) })
    }
  }
  const [origin] = await heard(/http:\/\/[\d.]+:\d+/)
  return { origin, heard, stop: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill()
  await once(child, 'exit')
}

async function close(): Promise<void> {
  for (const close of closings) await close()
}
