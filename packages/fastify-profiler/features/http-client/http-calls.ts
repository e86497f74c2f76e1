import { findCaller } from '../../core/call-site.ts'
import type { CollectingRecorded } from '../../core/feature.ts'
import { type AnyFunction, attempt, textOf } from '../../core/foreign-value.ts'
import { driverBoundary } from '../../core/guard.ts'
import type { Mask } from '../../core/mask/mask.ts'
import type { RequestSecrets } from '../../core/mask/request-secrets.ts'
import { isAfterResponse, lengthOf, type RequestTime, timeOf, unblocked } from '../../core/intervals.ts'
import { type HttpCall, type Location, type Profile, toMicroseconds } from '../../core/profile.ts'
import { isRefusal } from '../performance/failed-calls.ts'
import { Attachment } from '../../core/watch/attachment.ts'
import type { OpenSpan, Recorder } from '../../core/watch/recorder.ts'
import { openRecorder } from '../../core/watch/current-recorder.ts'

/** HTTP requests listed in full. */
const httpCallsKept = 100

/** The outgoing HTTP requests of one request: the first in full, and totals of all. */
class RecordedHttpCalls {
  readonly first: HttpClientCall[] = []
  /** When the heads of the responses came, by the calls' spans. */
  readonly heads = new Map<number, number>()
  count = 0
  failed = 0

  add(call: HttpClientCall): void {
    this.count++
    if (this.first.length < httpCallsKept) this.first.push(call)
  }
}

const recorded = new Attachment<RecordedHttpCalls>()

/** The HTTP requests that a recorder records from now on. */
function httpCallsOf({ records }: Recorder): RecordedHttpCalls {
  const calls = recorded.get(records) ?? new RecordedHttpCalls()
  recorded.set(records, calls)
  return calls
}

/** An HTTP request that the application makes. Times are milliseconds. Ending it twice does nothing. */
export class HttpClientCall {
  readonly recorder: Recorder
  readonly method: string
  readonly url: string
  readonly location: Location | null
  /** Since the start of the watched request. */
  readonly start: number
  /** Until the head of the response; null if there was none. */
  head: number | null = null
  /** Until the end of the response's body; null until then. */
  duration: number | null = null
  /** The time in which the event loop was blocked meanwhile. */
  blocked = 0
  status: number | null = null
  /** Bytes of the body, as received; null if unknown. */
  size: number | null = null
  /** The token in the response of an application that is profiled, too. */
  token: string | null = null
  failure: { readonly error: unknown } | null = null
  readonly #span: OpenSpan
  #received = 0
  /** Not every client tells what it receives. */
  #announced: number | null = null

  /** @param below the function that the application has called */
  constructor(recorder: Recorder, method: string, url: string, below: AnyFunction) {
    this.recorder = recorder
    this.method = method
    this.url = url
    this.location = findCaller(below)
    this.#span = recorder.span({ kind: 'http', name: nameOf(method, url), detail: url, location: this.location })
    this.start = recorder.spans[this.#span.id ?? -1]?.start ?? recorder.now()
    httpCallsOf(recorder).add(this)
  }

  /** The head of the response has arrived. @param header reads a header of the response by its lower-case name */
  answered(status: number, header: (name: string) => unknown): void {
    this.status = status
    const now = this.recorder.now()
    this.head = now - this.start
    if (this.#span.id !== null) httpCallsOf(this.recorder).heads.set(this.#span.id, now)
    const length = Number(header('content-length') ?? NaN)
    if (Number.isInteger(length)) this.#announced = this.method === 'HEAD' ? 0 : length
    const token = header('x-debug-token')
    if (typeof token === 'string') this.token = token
  }

  /** Bytes of the body have arrived. */
  received(bytes: number): void {
    this.#received += bytes
    this.size = this.#received
  }

  end(): void {
    this.#end(null)
  }

  fail(error: unknown): void {
    this.#end({ error })
  }

  #end(failure: HttpClientCall['failure']): void {
    const recorder = this.duration === null ? this.recorder.open : null
    if (recorder === null) return
    const calls = httpCallsOf(recorder)
    if (recorder !== this.recorder) {
      calls.add(this)
      recorder.record({ kind: 'http', name: this.method }, 0)
    }
    const { head, method, start, status, url } = this
    const now = recorder.now()
    const blocked = recorder.clock.blockedWithin(start, now)
    const whole = { start, end: now }
    this.failure = failure
    if (failure === null) this.size ??= this.#announced
    this.duration = lengthOf(unblocked(whole, blocked))
    this.blocked = now - start - this.duration
    if (head !== null) this.head = lengthOf(unblocked({ start, end: start + head }, blocked, whole))
    if (failure !== null || isRefusal(status)) calls.failed++
    this.#span.end(failure === null ? 'continued' : 'threw', { name: nameOf(method, url) + flawOf(status) }, now)
  }
}

/** Records that the application makes an HTTP request. @returns null outside a profiled request */
export function beginHttpCall(method: string, url: string, below: AnyFunction): HttpClientCall | null {
  const recorder = openRecorder()
  if (recorder === null) return null
  return driverBoundary.guard(() => new HttpClientCall(recorder, method, url, below), null)
}

/** GET prices.example/v2/list: what tells calls apart. The query is in the span's detail. */
function nameOf(method: string, url: string): string {
  const target = attempt(() => new URL(url), null)
  return target === null ? method : `${method} ${target.host}${target.pathname}`
}

/** What was wrong with the response, for the end of the name; empty if nothing was. */
function flawOf(status: number | null): string {
  if (status === null) return ' without a response'
  return status >= 400 ? ` ${status}` : ''
}

export function learnFromHttpCalls(recorder: Recorder, secrets: RequestSecrets): void {
  for (const { url } of recorded.get(recorder.records)?.first ?? []) secrets.learnFromUrl(url)
}

export function collectHttpCalls({ exchange, mask, time }: CollectingRecorded): Pick<Profile, 'http'> {
  const { records, spans } = exchange.recorder
  const calls = recorded.get(records)
  if (calls === undefined) return { http: null }
  const { count, failed, first, heads } = calls
  for (const [id, headAt] of heads) {
    const span = spans[id]
    // Its head was there before the response, which may have waited for that.
    if (span?.charged === 0 && headAt <= time.duration) span.charged = toMicroseconds(headAt - span.start)
  }
  const duration = toMicroseconds(timeOf('http', spans, time))
  return { http: { count, failed, duration, calls: first.map(call => describeCall(call, time, mask)) } }
}

function describeCall(call: HttpClientCall, time: RequestTime, mask: Mask): HttpCall {
  const { method, url, status, size, start, head, duration, blocked, failure, location, token } = call
  return {
    method: mask.text(method),
    url: mask.text(url),
    status,
    size,
    start: toMicroseconds(start),
    head: head === null ? null : toMicroseconds(head),
    duration: duration === null ? null : toMicroseconds(duration),
    blocked: toMicroseconds(blocked),
    error: failure === null ? null : mask.text(textOf(failure.error)),
    location,
    token: mask.textOrNull(token),
    ...(isAfterResponse(time, start + blocked + (duration ?? Infinity)) && { isLate: true }),
  }
}
