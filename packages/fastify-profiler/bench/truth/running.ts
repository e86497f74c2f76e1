import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'

/** Starts a module of this folder as a process. */
export function start(module: string, env: Record<string, string>): ChildProcess {
  return fork(join(import.meta.dirname, `${module}.js`), {
    execArgv: ['--enable-source-maps'],
    env: { ...process.env, ...env },
  })
}

/** Sends a request. @returns the token of its profile */
export async function send(url: string): Promise<string> {
  const response = await fetch(url)
  await response.text()
  return response.headers.get('x-debug-token') ?? ''
}

/** Asks as an agent does. */
export async function ask(origin: string, tool: string, given: object): Promise<string> {
  const response = await fetch(`${origin}/_profiler/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: given } }),
  })
  const { result } = (await response.json()) as { result: { content: Array<{ text: string }> } }
  return result.content.map(({ text }) => text.replaceAll('\\', '')).join('')
}
