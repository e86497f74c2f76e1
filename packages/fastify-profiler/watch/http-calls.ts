import { findCaller } from '../base/caller.ts'
import { attempt, type AnyFunction } from '../base/foreign-value.ts'
import { currentRecorder } from './current-recorder.ts'
import { driverBoundary } from './driver-boundary.ts'
import type { OpenSpan, Recorder } from './recorder.ts'
import { httpCallsOf, httpSpans, type RecordedHttpCall } from './recorded-http-calls.ts'

const noSpan: OpenSpan = { id: null, end() {} }

/** An HTTP request that the application makes. Ending it twice does nothing. */
export class HttpClientCall {
  readonly recorder: Recorder
  readonly #call: RecordedHttpCall

  constructor(recorder: Recorder, call: RecordedHttpCall) {
    this.recorder = recorder
    this.#call = call
  }

  /** The head of the response has arrived. @param header reads a header of the response by its lower-case name */
  head(status: number, header: (name: string) => unknown): void {
    const call = this.#call
    call.status = status
    call.head = this.recorder.now() - call.start
    const length = Number(header('content-length') ?? NaN)
    if (Number.isInteger(length)) call.size = length
    const token = header('x-debug-token')
    if (typeof token === 'string') call.token = token
  }

  /** Sets how many bytes of the body have arrived. */
  received(bytes: number): void {
    this.#call.size = bytes
  }

  end(): void {
    this.#end(null)
  }

  fail(error: unknown): void {
    this.#end({ error })
  }

  #end(failure: RecordedHttpCall['failure']): void {
    const { recorder } = this
    const call = this.#call
    if (recorder.finished || call.duration !== null) return
    call.failure = failure
    httpCallsOf(recorder).end(call, recorder.now())
    call.span.end(failure === null ? 'continued' : 'threw', { name: nameOf(call.method, call.url) + flawOf(call) })
  }
}

/** Records that the application makes an HTTP request. @returns null outside a profiled request */
export function beginHttpCall(method: string, url: string, below: AnyFunction): HttpClientCall | null {
  const recorder = currentRecorder()
  if (recorder === undefined || recorder.finished) return null
  return driverBoundary.guard(() => {
    const httpCalls = httpCallsOf(recorder)
    const location = findCaller(below)
    const isOnTimeline = httpCalls.count < httpSpans
    const name = nameOf(method, url)
    const span = isOnTimeline ? recorder.span({ kind: 'http', name, detail: url, location }) : noSpan
    if (!isOnTimeline) recorder.note(`Only the first ${httpSpans} outgoing HTTP requests are on the timeline.`)
    return new HttpClientCall(recorder, httpCalls.begin(method, url, location, recorder.now(), span))
  }, null)
}

/** GET prices.example/v2/list: what tells calls apart. The query is in the span's detail. */
function nameOf(method: string, url: string): string {
  const target = attempt(() => new URL(url), null)
  return target === null ? method : `${method} ${target.host}${target.pathname}`
}

/** What was wrong with the response, for the end of the name; empty if nothing was. */
function flawOf({ status }: RecordedHttpCall): string {
  if (status === null) return ' without a response'
  return status >= 400 ? ` ${status}` : ''
}
