import { findCaller } from '../../core/call-site.ts'
import type { CollectingRecorded } from '../../core/feature.ts'
import { type AnyFunction, attempt, textOf } from '../../core/foreign-value.ts'
import { driverBoundary } from '../../core/guard.ts'
import type { Mask } from '../../core/mask/mask.ts'
import type { RequestSecrets } from '../../core/mask/request-secrets.ts'
import { isAfterResponse, lengthOf, type RequestTime, timeOf, unblocked } from '../../core/periods.ts'
import {
  type BlockedTime,
  type HttpCall,
  type HttpUse,
  type Location,
  type Profile,
  type Span,
  toMicroseconds,
} from '../../core/profile.ts'
import { isRefusal } from '../performance/failed-calls.ts'
import { Attachment } from '../../core/watch/attachment.ts'
import type { OpenSpan, Recorder } from '../../core/watch/recorder.ts'
import { openRecorder } from '../../core/watch/recorders.ts'

/** An HTTP request that the application has made. Times are milliseconds. */
interface RecordedHttpCall {
  readonly method: string
  readonly url: string
  readonly location: Location | null
  /** Since the start of the watched request. */
  readonly start: number
  /** Until the head of the response; null if there was none. */
  head: number | null
  /** Until the end of the response's body; null until then. */
  duration: number | null
  /** The time in which the event loop was blocked meanwhile. */
  blocked: number
  status: number | null
  /** Bytes of the body, as received; null if unknown. */
  size: number | null
  /** The token in the response of an application that is profiled, too. */
  token: string | null
  failure: { readonly error: unknown } | null
  readonly span: OpenSpan
}

/** HTTP requests listed in full. */
const httpCallsKept = 100

const recorded = new Attachment<RecordedHttpCalls>()

/** The HTTP requests that a recorder has recorded; null if there were none. */
function recordedHttpCalls({ records }: Recorder): RecordedHttpCalls | null {
  return recorded.get(records) ?? null
}

/** Those that it records from now on. */
function httpCallsOf(recorder: Recorder): RecordedHttpCalls {
  const known = recordedHttpCalls(recorder)
  if (known !== null) return known
  const made = new RecordedHttpCalls()
  recorded.set(recorder.records, made)
  return made
}

/** The outgoing HTTP requests of one request: the first in full, and totals of all. */
class RecordedHttpCalls {
  readonly first: RecordedHttpCall[] = []
  count = 0
  failed = 0

  begin(method: string, url: string, location: Location | null, start: number, span: OpenSpan): RecordedHttpCall {
    const call = {
      method,
      url,
      location,
      start,
      head: null,
      duration: null,
      blocked: 0,
      status: null,
      size: null,
      token: null,
      failure: null,
      span,
    }
    this.add(call)
    return call
  }

  add(call: RecordedHttpCall): void {
    this.count++
    if (this.first.length < httpCallsKept) this.first.push(call)
  }

  end(call: RecordedHttpCall, now: number, blocked: readonly BlockedTime[]): void {
    const { head, start } = call
    const whole = { start, end: now }
    call.duration = lengthOf(unblocked(whole, blocked))
    call.blocked = now - start - call.duration
    if (head !== null) call.head = lengthOf(unblocked({ start, end: start + head }, blocked, whole))
    if (call.failure !== null || isRefusal(call.status)) this.failed++
  }
}

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
    const call = this.#call
    const recorder = call.duration === null ? this.recorder.open : null
    if (recorder === null) return
    if (recorder !== this.recorder) {
      httpCallsOf(recorder).add(call)
      recorder.record({ kind: 'http', name: call.method }, 0)
    }
    call.failure = failure
    const now = recorder.now()
    httpCallsOf(recorder).end(call, now, recorder.clock.blockedWithin(call.start, now))
    call.span.end(failure === null ? 'continued' : 'threw', { name: nameOf(call.method, call.url) + flawOf(call) })
  }
}

/** Records that the application makes an HTTP request. @returns null outside a profiled request */
export function beginHttpCall(method: string, url: string, below: AnyFunction): HttpClientCall | null {
  const recorder = openRecorder()
  if (recorder === null) return null
  return driverBoundary.guard(() => {
    const httpCalls = httpCallsOf(recorder)
    const location = findCaller(below)
    const span = recorder.span({ kind: 'http', name: nameOf(method, url), detail: url, location })
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

export function learnFromHttpCalls(recorder: Recorder, secrets: RequestSecrets): void {
  for (const { url } of recordedHttpCalls(recorder)?.first ?? []) secrets.learnFromUrl(url)
}

/** The HTTP requests that the application has made to answer a request. */
export function collectHttpCalls({ exchange, mask, time }: CollectingRecorded): Pick<Profile, 'http'> {
  const { recorder } = exchange
  const calls = recordedHttpCalls(recorder)
  return { http: calls === null ? null : describeHttpCalls(calls, recorder.spans, time, mask) }
}

function describeHttpCalls(calls: RecordedHttpCalls, spans: readonly Span[], time: RequestTime, mask: Mask): HttpUse {
  const { count, failed, first } = calls
  const duration = toMicroseconds(timeOf('http', spans, time))
  return { count, failed, duration, calls: first.map(call => describeCall(call, time, mask)) }
}

function describeCall(call: RecordedHttpCall, time: RequestTime, mask: Mask): HttpCall {
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
