import type { IncomingMessage } from 'node:http'
import { attempt, isFunction, type AnyFunction } from '../base/foreign-value.ts'
import { currentRecorder, recorderScope } from './current-recorder.ts'
import type { TracedFunction } from './running-calls.ts'
import { TracedCall } from './traced-call.ts'
import type { WatchedApplication } from './watched-application.ts'

const tracedAlready = new WeakSet<object>()

/** Marks a function of the profiler, so that `traced` leaves it as it is. */
export function untraced<Subject extends AnyFunction>(subject: Subject): Subject {
  tracedAlready.add(subject)
  return subject
}

/** Wraps a function to time its calls. A proxy keeps all properties that Fastify may read, such as name and arity. */
export function traced<Subject extends AnyFunction>(
  subject: Subject,
  description: TracedFunction,
  application: WatchedApplication,
): Subject {
  if (tracedAlready.has(subject)) return subject
  const proxy = new Proxy(subject, {
    // Only this frame of the profiler is on the stack when the function begins: V8 keeps just ten frames.
    apply(target, self, args: unknown[]): unknown {
      const raw = rawRequestIn(args)
      // Not called by Fastify.
      if (raw === null) return Reflect.apply(target, self, args)
      const recorder = application.recorders.of(raw)
      if (recorder === undefined || recorder.finished) {
        const isSkipped =
          description.kind === 'hook' &&
          attempt(() => application.ownPages.areAskedFor(raw) && !isUnmatched(args[0]), false)
        return isSkipped ? skip(args) : Reflect.apply(target, self, args)
      }
      const call = new TracedCall(recorder, description, args, application.recorders)
      let result: unknown
      try {
        // After a hook with a callback, the next one already runs in this scope. Entering it again takes time.
        result =
          currentRecorder() === recorder
            ? Reflect.apply(target, self, args)
            : recorderScope.run(recorder, Reflect.apply, target, self, args)
      } catch (error) {
        call.fail(error)
        throw error
      }
      return call.follow(result)
    },
  })
  tracedAlready.add(proxy)
  return proxy
}

/** Skips the application's hooks for the profiler's pages, which must work even if a hook is broken. */
function skip(args: readonly unknown[]): void {
  const done = args.at(-1)
  if (isFunction(done)) Reflect.apply(done, undefined, [])
}

function isUnmatched(request: unknown): boolean {
  return typeof request === 'object' && request !== null && 'is404' in request && request.is404 === true
}

/** The request is the first argument, or the second of error handlers. Null if reading them throws. */
function rawRequestIn(args: readonly unknown[]): IncomingMessage | null {
  return attempt(() => rawRequest(args[0]) ?? rawRequest(args[1]), null)
}

function rawRequest(value: unknown): IncomingMessage | null {
  const isRequest = typeof value === 'object' && value !== null && 'raw' in value && 'routeOptions' in value
  return isRequest && isIncomingMessage(value.raw) ? value.raw : null
}

function isIncomingMessage(value: unknown): value is IncomingMessage {
  return typeof value === 'object' && value !== null && 'headers' in value
}
