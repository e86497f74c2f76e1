import type { Location } from '../base/profile.ts'
import { Attachment } from './attachment.ts'
import type { OpenSpan, Recorder } from './recorder.ts'

/** An HTTP request that the application has made. Times are milliseconds. */
export interface RecordedHttpCall {
  readonly method: string
  readonly url: string
  readonly location: Location | null
  /** Since the start of the watched request. */
  readonly start: number
  /** Until the head of the response; null if there was none. */
  head: number | null
  /** Until the end of the response's body; null until then. */
  duration: number | null
  status: number | null
  /** Bytes of the body, as received; null if unknown. */
  size: number | null
  /** The token in the response of an application that is profiled, too. */
  token: string | null
  failure: { readonly error: unknown } | null
  readonly span: OpenSpan
}

/** HTTP requests listed in full. */
export const httpCallsKept = 100

/** Spans of HTTP requests. */
export const httpSpans = 500

const recorded = new Attachment<RecordedHttpCalls>()

/** The HTTP requests that a recorder has recorded; null if there were none. */
export function recordedHttpCalls({ records }: Recorder): RecordedHttpCalls | null {
  return recorded.get(records) ?? null
}

/** Those that it records from now on. */
export function httpCallsOf(recorder: Recorder): RecordedHttpCalls {
  const calls = recordedHttpCalls(recorder) ?? new RecordedHttpCalls()
  recorded.set(recorder.records, calls)
  return calls
}

/** The outgoing HTTP requests of one request: the first in full, and totals of all. */
export class RecordedHttpCalls {
  readonly first: RecordedHttpCall[] = []
  count = 0
  failed = 0
  duration = 0

  begin(method: string, url: string, location: Location | null, start: number, span: OpenSpan): RecordedHttpCall {
    const call = {
      method,
      url,
      location,
      start,
      head: null,
      duration: null,
      status: null,
      size: null,
      token: null,
      failure: null,
      span,
    }
    this.count++
    if (this.first.length < httpCallsKept) this.first.push(call)
    return call
  }

  end(call: RecordedHttpCall, now: number): void {
    call.duration = now - call.start
    this.duration += call.duration
    if (call.failure !== null || (call.status ?? 0) >= 400) this.failed++
  }
}
