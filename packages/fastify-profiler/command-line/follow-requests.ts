import { setTimeout } from 'node:timers/promises'
import { listOf, propertyOf } from '../base/foreign-value.ts'
import type { ProfileSummary } from '../base/summary.ts'
import { isFrom, type KnownApplication } from './known-application.ts'
import { jsonText } from './json-text.ts'
import type { Asked } from './profiler-commands.ts'
import { summaryLine } from './summary-line.ts'

/** Milliseconds until the application is asked again after it has gone. */
const patience = 500

const parse: (text: string) => ProfileSummary = JSON.parse

/** Prints requests as they happen, until the terminal ends. Waits for an application that restarts. */
export async function followRequests(asked: Asked): Promise<number> {
  const { asker, terminal } = asked
  if (asker.applications.length === 0) {
    terminal.errors.write('No application is known. Start it, or name its pages with --url.\n')
    return 1
  }
  let isWaiting = false
  while (!terminal.ended.aborted) {
    const stream = await openFirst(asker.applications, terminal.ended)
    if (stream !== null) {
      isWaiting = false
      await printEvents(stream, asked)
    } else if (!isWaiting) {
      isWaiting = true
      terminal.errors.write('Waiting for the application.\n')
    }
    await setTimeout(patience, undefined, { signal: terminal.ended }).catch(() => {})
  }
  return 0
}

/** The stream of new requests of the first application that answers; null if none does. */
async function openFirst(applications: readonly KnownApplication[], signal: AbortSignal) {
  for (const application of applications) {
    const stream = await open(application, signal)
    if (stream !== null) return stream
  }
  return null
}

async function open(application: KnownApplication, signal: AbortSignal) {
  try {
    // A connection that is kept would hold up an application that closes.
    const headers = { accept: 'text/event-stream', connection: 'close' }
    const url = `${application.url}/events?rows=json`
    const response = await fetch(url, { headers, signal, redirect: 'error' })
    if (response.status === 200 && isFrom(application, response)) return response.body
    await response.body?.cancel()
    return null
  } catch {
    return null
  }
}

async function printEvents(stream: ReadableStream<Uint8Array>, { terminal, values }: Asked): Promise<void> {
  const isJson = values.json === true || !terminal.isScreen
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true })
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) printEvent(event)
    }
  } catch {
    // The application has gone.
  }

  function printEvent(event: string): void {
    const [, data = '{}'] = /^event: requests\ndata: (.*)$/s.exec(event) ?? []
    const told: unknown = JSON.parse(data)
    for (const row of listOf(propertyOf(told, 'rows')).map(String)) {
      terminal.output.write(`${isJson ? jsonText(parse(row)) : summaryLine(parse(row), terminal)}\n`)
    }
    const missed = Number(propertyOf(told, 'missed') ?? 0)
    if (missed > 0) terminal.errors.write(`${missed} more requests.\n`)
  }
}
