import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { once } from 'node:events'
import type { Location, Profile, Span } from '../../core/profile.ts'
import type { SearchResult } from '../../core/summary.ts'
import type { Application, Request } from './catalogue.ts'

/** What the profiler saw of an application's requests. */
export interface Sight {
  requests: number
  profiled: number
  queries: number
  seen: number
  /** Queries with the line that sent them. */
  placed: number
  answers: string[]
  /** What is missing, for the reader of a failure. */
  misses: string[]
}

/** Sends an application its requests, and compares them with their profiles. @param folder has the package "ws" */
export async function sendRequests({ requests }: Application, origin: string, folder: string): Promise<Sight> {
  const sight: Sight = { requests: 0, profiled: 0, queries: 0, seen: 0, placed: 0, answers: [], misses: [] }
  for (const request of requests) {
    const { status = 200, queries: expected = 0, lost = 0 } = request
    sight.answers.push(await send(request, origin, folder))
    sight.requests++
    sight.queries += expected
    const profile = await profileOf(request, origin)
    const title = `${request.method ?? 'GET'} ${request.path}`
    if (profile === null || profile.status !== status) {
      sight.misses.push(`${title}: ${profile === null ? 'no profile' : `status ${String(profile.status)}`}`)
      continue
    }
    sight.profiled++
    sight.misses.push(...unseenIn(profile, request).map(what => `${title}: ${what}`))
    const queries = profile.spans.filter(isQuery)
    const placed = queries.filter(isPlaced)
    sight.seen += Math.min(queries.length, expected)
    sight.placed += placed.length
    if (queries.length !== expected || placed.length !== expected - lost) {
      const told = queries.map(
        ({ name, location }) => `${name} (${location?.file ?? 'no file'}:${location?.line ?? 0})`,
      )
      sight.misses.push(`${title}: ${expected} queries, ${lost} of them lost, seen: ${told.join(', ')}`)
    }
  }
  return sight
}

/** What an application answers. */
export async function answersOf({ requests }: Application, origin: string, folder: string): Promise<string[]> {
  const answers: string[] = []
  for (const request of requests) answers.push(await send(request, origin, folder))
  return answers
}

/** The answer to a request. Some libraries send stacks to developers, in which the profiler has frames. */
async function send(request: Request, origin: string, folder: string): Promise<string> {
  const { path, method = 'GET', json, accept = '*/*', files, isWebSocket } = request
  if (isWebSocket === true) return talk(`${origin.replace('http', 'ws')}${path}`, folder)
  const form = new FormData()
  for (const [name, size] of Object.entries(files ?? {})) form.append('file', new Blob([Buffer.alloc(size)]), name)
  const response = await fetch(origin + path, {
    method,
    headers: { accept, ...(json !== undefined && { 'content-type': 'application/json' }) },
    ...(files !== undefined && { body: form }),
    ...(json !== undefined && { body: JSON.stringify(json) }),
  })
  return `${response.status} ${await response.text()}`.replace(/"stack(?:trace)?":(?:"[^"]*"|\[[^\]]*\])/g, '')
}

/** Says hello, and waits for the end of the connection. @returns what it was told */
async function talk(url: string, folder: string): Promise<string> {
  const { WebSocket } = createRequire(`${folder}/`)('ws')
  const socket = new WebSocket(url)
  await once(socket, 'open')
  socket.send('hello')
  const [[message]] = await Promise.all([once(socket, 'message'), once(socket, 'close')])
  return String(message)
}

/** The newest profile of a request's path. It is written shortly after the response. */
async function profileOf({ path }: Request, origin: string): Promise<Profile | null> {
  const headers = { accept: 'application/json' }
  for (const end = performance.now() + 3000; performance.now() < end;) {
    const found = await fetch(`${origin}/_profiler/search?url=${encodeURIComponent(path)}`, { headers })
    const { profiles }: SearchResult = await found.json()
    const newest = profiles.find(({ url }) => url === path)
    if (newest === undefined) continue
    return (await fetch(`${origin}/_profiler/${newest.token}`, { headers })).json()
  }
  return null
}

/** What a request's profile lacks, besides queries. */
function unseenIn({ exceptions, logs, spans }: Profile, { throws, span, logs: line }: Request): string[] {
  const messages = exceptions.map(({ message }) => message)
  const isThrown = exceptions.every(({ frames }) => frames.some(frame => isMarked(frame, '// thrown')))
  return [
    ...(throws !== undefined && (`${throws}` !== `${messages}` || !isThrown) ? [`exceptions seen: ${messages}`] : []),
    ...(span !== undefined && !spans.some(({ name, location }) => name === span && location) ? [`no ${span}`] : []),
    ...(line !== undefined && !logs.some(({ message }) => message === line) ? [`no line "${line}"`] : []),
  ]
}

const operations = ['query', 'cache', 'command', 'http']
const control = /^(?:begin|start transaction|commit|rollback)\b/i

function isQuery({ kind, name, detail }: Span): boolean {
  return operations.includes(kind) && !control.test(detail ?? name)
}

/** Whether a query's place is marked with "// query". */
function isPlaced({ location }: Span): boolean {
  return location !== null && isMarked(location, '// query')
}

/** Whether a line of an application ends with a mark. That of a call that ends with a function is on its first line. */
function isMarked({ file, line }: Location, mark: string): boolean {
  if (!existsSync(file)) return false
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.slice(line - 1, line + 1).some(line => line.endsWith(mark))
}
