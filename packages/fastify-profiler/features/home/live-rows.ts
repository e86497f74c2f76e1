import type { ServerResponse } from 'node:http'
// Imported, because tests replace the global timers.
import { clearTimeout, setTimeout } from 'node:timers'
import type { onRequestHookHandler } from 'fastify'
import type { PageSources, RunningFeature } from '../../core/feature.ts'
import type { Boundary } from '../../core/guard.ts'
import type { ProfileStore } from '../../core/store/profile-store.ts'
import type { ProfileSummary } from '../../core/summary.ts'
import { Attachment } from '../../core/watch/attachment.ts'
import { untraced } from '../../core/watch/traced-call.ts'

/** Milliseconds for which new requests are gathered, so that a busy application sends few events. */
const gathering = 50

/** Requests of one event. More are counted, and shown by a reload. */
const rowsPerEvent = 50

/** Bytes that may wait for a reader. A reader that stalls misses what comes after. */
const waitingMost = 64 * 1024

interface Reader {
  response: ServerResponse
  render: (summary: ProfileSummary) => string
  missed: number
}

/** Sends new requests to the browsers that show the list, as server-sent events. */
export class LiveRows {
  readonly #boundary: Boundary
  readonly #readers = new Set<Reader>()
  #gathered: ProfileSummary[] = []
  #missed = 0
  #timer: NodeJS.Timeout | undefined

  constructor(boundary: Boundary) {
    this.#boundary = boundary
  }

  get readers(): number {
    return this.#readers.size
  }

  /** Begins an event stream. @param render makes the row that the browser shows */
  open(response: ServerResponse, render: Reader['render']): void {
    const reader = { response, render, missed: 0 }
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-content-type-options': 'nosniff',
      // Proxies such as nginx would hold the events back.
      'x-accel-buffering': 'no',
    })
    response.write('retry: 2000\nevent: hello\ndata: {}\n\n')
    this.#readers.add(reader)
    response.on('close', () => this.#readers.delete(reader))
  }

  /** Sends a request to all readers within 50 ms. */
  add(summary: ProfileSummary): void {
    if (this.#readers.size === 0) return
    if (this.#gathered.length < rowsPerEvent) this.#gathered.push(summary)
    else this.#missed++
    this.#timer ??= setTimeout(() => this.#boundary.guard(() => this.#send(), undefined), gathering).unref()
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const { response } of this.#readers) response.end()
  }

  #send(): void {
    const summaries = this.#gathered
    const missed = this.#missed
    this.#gathered = []
    this.#missed = 0
    this.#timer = undefined
    for (const reader of this.#readers) send(reader, summaries, missed)
  }
}

const rows = new Attachment<LiveRows>()

export function liveRowsOf(app: object): LiveRows | undefined {
  return rows.get(app)
}

export function sendRows({ app, boundary }: PageSources): RunningFeature {
  const live = new LiveRows(boundary)
  rows.set(app, live)
  return { written: summary => live.add(summary) }
}

function send(reader: Reader, summaries: readonly ProfileSummary[], missed: number): void {
  const { render, response } = reader
  const rows = summaries.map(render)
  const event = `event: requests\ndata: ${JSON.stringify({ rows, missed: reader.missed + missed })}\n\n`
  if (response.writableLength + Buffer.byteLength(event) > waitingMost) reader.missed += summaries.length + missed
  else {
    reader.missed = 0
    response.write(event)
  }
}

/** Carries the id of `server.json`, by which the command line knows the server of the folder that it reads. */
export const serverIdHeader = 'x-profiler-server'

/** A hook that shows that this server can read the folder of its profiles. All workers of a cluster can. */
export function serverId(store: ProfileStore): onRequestHookHandler {
  return untraced(function sendServerId(_request, { raw }, done) {
    const id = store.findAddress()?.id
    // Replies that are hijacked lose the headers of Fastify.
    if (id !== undefined) raw.setHeader(serverIdHeader, id)
    done()
  })
}
