import { textOf } from '../base/foreign-value.ts'
import { toMicroseconds } from '../base/microseconds.ts'
import type { HttpCall, HttpUse } from '../base/profile.ts'
import type { Mask } from '../mask/mask.ts'
import type { RecordedHttpCall, RecordedHttpCalls } from '../watch/recorded-http-calls.ts'

/** The HTTP requests that the application has made to answer a request, masked. */
export function describeHttpCalls(calls: RecordedHttpCalls | null, mask: Mask): HttpUse | null {
  if (calls === null) return null
  const { count, failed, duration, first } = calls
  return { count, failed, duration: toMicroseconds(duration), calls: first.map(call => describeCall(call, mask)) }
}

function describeCall(call: RecordedHttpCall, mask: Mask): HttpCall {
  const { method, url, status, size, start, head, duration, failure, location, token } = call
  return {
    method: mask.text(method),
    url: mask.text(url),
    status,
    size,
    start: toMicroseconds(start),
    head: head === null ? null : toMicroseconds(head),
    duration: duration === null ? null : toMicroseconds(duration),
    error: failure === null ? null : mask.text(textOf(failure.error)),
    location,
    token: mask.textOrNull(token),
  }
}
