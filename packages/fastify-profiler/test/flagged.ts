import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { Profile } from '../core/profile.ts'

/** The end of a process that ran an application. */
export interface Ended {
  /** What the application has told with `tell`. */
  told: ReturnType<typeof JSON.parse>[]
  /** The lines on stdout: the application's log. */
  lines: string[]
  /** The lines on stderr. */
  errors: string[]
  code: number | null
}

export interface Run {
  /** Files to write beside the application. */
  files?: Record<string, string>
  /** The application's file name. Its ending says what it is. */
  file?: string
  /** Node's arguments. Default: the flag. */
  flags?: readonly string[]
  env?: Record<string, string>
  /** Where the application's folder is. */
  folder?: string
}

/** The folder of the package, as a user has it in node_modules. */
export const installedPackage = dirname(dirname(import.meta.dirname))

/** Where applications find the package and Fastify. */
const folders = join(installedPackage, 'dist/test/started')
mkdirSync(folders, { recursive: true })

export const flag = ['--import', 'fastify-profiler/register']

/** What every application can use. */
const tools = `
const { request: rawRequest } = await import('node:http')
const { once } = await import('node:events')
const tell = value => process.send(value)
/** Sends a request with a path that fetch would change. */
async function get (origin, path) {
  const request = rawRequest(new URL(origin), { path, agent: false }).end()
  const [response] = await once(request, 'response')
  let body = ''
  for await (const chunk of response) body += chunk
  return { status: response.statusCode, headers: response.headers, body }
}
/** The profile of an answer. */
async function profileOf (answer) {
  const link = answer.headers['x-debug-token-link'] ?? answer.headers.get('x-debug-token-link')
  return (await fetch(link, { headers: { accept: 'application/json' } })).json()
}
`

/** Runs an application in a process of its own, as a user does, until it ends. */
export async function run(
  t: Test,
  application: string,
  { files = { 'package.json': '{}' }, file = 'app.mjs', flags = flag, env = {}, folder: place = folders }: Run = {},
): Promise<Ended> {
  const isModule = file.endsWith('.mjs')
  const source = isModule ? tools + application : `(async () => {${tools}${application}})()`
  const folder = mkdtempSync(join(place, 'application-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const [name, content] of Object.entries({ ...files, [file]: source })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  const child = spawn(process.execPath, [...flags, file], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const told: unknown[] = []
  child.on('message', message => told.push(message))
  const [lines, errors, [code]] = await Promise.all([allOf(child.stdout), allOf(child.stderr), once(child, 'close')])
  return { told, lines: linesOf(lines), errors: linesOf(errors), code }
}

async function allOf(output: Readable | null): Promise<string> {
  return output === null ? '' : text(output)
}

function linesOf(output: string): string[] {
  return output.split('\n').filter(line => line !== '')
}

/** The parts of a profile that tests look at. */
export function outline({ spans, logs, notes, exceptions, status }: Profile) {
  return {
    status,
    hooks: spans.filter(({ kind }) => kind === 'hook').map(({ name }) => name),
    handlers: spans.filter(({ kind }) => kind === 'handler').map(({ name }) => name),
    lines: logs.map(({ message }) => message),
    exceptions: exceptions.map(({ code, message }) => `${code} ${message}`),
    notes,
  }
}
