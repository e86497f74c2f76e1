/**
 * Runs applications of many kinds with and without `--import fastify-profiler/register`, and prints what the profiler
 * saw of them. Installs them from the registry, so `npm test` leaves it out: `npm run test:applications` runs it.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { applications, type Application } from './catalogue.ts'
import { answersOf, sendRequests } from './requests.ts'
import { start, type Running } from './running.ts'
import { isRunning, serviceVariables } from './services.ts'

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const workspace = dirname(dirname(dirname(import.meta.dirname)))
const scratch = mkdtempSync(join(tmpdir(), 'fastify-profiler-applications-'))
const npmLog = ['--no-audit', '--no-fund', '--loglevel=error']

/** Starts of which the fastest counts. */
const starts = 3

const chosen = applications.filter(({ name, folder }) =>
  `${name} ${folder}`.toLowerCase().includes(values.only.toLowerCase()),
)
const failures: string[] = []
const skipped: string[] = []
try {
  const tarball = pack()
  install(tarball)
  console.log(row(['application', 'boots', 'profiled', 'queries', 'right line', 'equal answers', 'boot, ms']))
  for (const application of chosen) console.log(row([application.name, ...(await judge(application))]))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
for (const line of [...skipped, ...failures]) console.log(line)
if (failures.length > 0) process.exitCode = 1

function pack(): string {
  run(workspace, 'npm', 'pack', '--pack-destination', scratch, '--loglevel=error')
  return join(scratch, String(readdirSync(scratch).find(name => name.endsWith('.tgz'))))
}

/** One folder for all applications. Some have packages of their own beside it. */
function install(tarball: string): void {
  cpSync(join(workspace, 'test/applications/examples'), scratch, { recursive: true })
  writeFileSync(join(scratch, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const packages = new Set(chosen.flatMap(({ packages }) => packages))
  run(scratch, 'npm', 'install', ...npmLog, tarball, 'fastify', ...packages)
  const own = new Map(chosen.map(({ folder, installer }) => [join(scratch, folder.split('/')[0] ?? ''), installer]))
  const store = ['--store-dir', join(scratch, 'store')]
  for (const [root, installer] of own) {
    if (installer === 'npm') run(root, 'npm', 'install', ...npmLog, tarball)
    if (installer === 'pnpm') {
      run(root, 'pnpm', 'add', '--workspace-root', ...store, tarball)
      run(root, 'pnpm', 'install', '--no-frozen-lockfile', ...store)
    }
  }
}

/** The cells of an application's row. */
async function judge(application: Application): Promise<string[]> {
  const { name, needs, generate } = application
  if (needs !== undefined && !(await isRunning(needs))) {
    skipped.push(`"${name}" was skipped, since ${needs} does not run.`)
    return ['skipped']
  }
  if (generate !== undefined) run(scratch, process.execPath, ...generate)
  const folder = join(scratch, application.folder)
  const environment = environmentOf(name)
  const off = await fastest(isProfiled => start(application, folder, environment, isProfiled), false)
  const answers = await answersOf(application, off.origin, scratch).finally(() => off.stop())
  const on = await fastest(isProfiled => start(application, folder, environment, isProfiled), true)
  const sight = await sendRequests(application, on.origin, scratch).finally(() => on.stop())
  const different = sight.answers.filter((answer, index) => answer !== answers[index])
  failures.push(...different.map(answer => `"${name}": without the profiler it does not answer ${answer}`))
  failures.push(...sight.misses.map(miss => `"${name}": ${miss}`))
  return [
    'yes',
    `${sight.profiled} of ${sight.requests}`,
    `${sight.seen} of ${sight.queries}`,
    `${sight.placed} of ${sight.queries}`,
    `${sight.answers.length - different.length} of ${sight.requests}`,
    `${Math.round(off.boot)} → ${Math.round(on.boot)}`,
  ]
}

/** Starts an application several times, and keeps the last one running. Its boot time is the shortest of all. */
async function fastest(begin: (isProfiled: boolean) => Promise<Running>, isProfiled: boolean): Promise<Running> {
  let boot = Infinity
  for (let turn = 1; ; turn++) {
    const running = await begin(isProfiled)
    boot = Math.min(boot, running.boot)
    if (turn === starts) return { ...running, boot }
    await running.stop()
  }
}

/** Without what tap or npm has every process load. */
function environmentOf(name: string): NodeJS.ProcessEnv {
  const directory = join(scratch, 'profiles', name.replaceAll(/\W/g, '-'))
  mkdirSync(directory, { recursive: true })
  const { PATH, HOME } = process.env
  return { PATH, HOME, ...serviceVariables(), FASTIFY_PROFILER_DIRECTORY: directory }
}

function run(folder: string, command: string, ...args: string[]): void {
  execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

function row([name = '', ...cells]: string[]): string {
  const widths = [9, 12, 12, 14, 16, 0]
  return name.padEnd(46) + cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('')
}
