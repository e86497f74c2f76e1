import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import { isPromise } from 'node:util/types'
import { type AnyFunction, attempt, isError, isFunction, whenThere } from '../foreign-value.ts'
import type { Location, SpanKind } from '../profile.ts'
import type { Recorder } from './recorder.ts'
import { currentRecorder, type Recorders, recorderScope } from './current-recorder.ts'
import type { TracedFunction } from './running-calls.ts'
import type { WatchedApplication } from './exchange.ts'

/** Follows one call of a traced function until it returns, throws, calls back or settles its promise. */
class TracedCall {
  readonly #recorder: Recorder
  readonly #recorders: Recorders
  readonly #isAnswer: boolean
  readonly #args: readonly unknown[]
  readonly #isCalledBack: boolean
  #id: number | null = null

  /** Begins the call's span, and replaces the callback in `args` by one that ends it. */
  constructor(recorder: Recorder, description: TracedFunction, args: unknown[], recorders: Recorders) {
    const before = performance.now()
    this.#recorder = recorder
    this.#recorders = recorders
    this.#isAnswer = isAnswer(description.kind)
    this.#args = args
    const last = args.length - 1
    const done = args[last]
    this.#isCalledBack = isFunction(done)
    this.#guard(this.#begin, description, undefined)
    if (isFunction(done)) {
      // Declared before it is assigned: see watchReply().
      const followedDone = (...results: unknown[]): unknown => {
        this.#calledBack(results[0])
        return Reflect.apply(done, undefined, results)
      }
      args[last] = followedDone
    }
    recorder.clock.ownTime += performance.now() - before
  }

  /**
   * Called with what the function has returned.
   * @returns the value to pass on to Fastify
   */
  follow(result: unknown): unknown {
    return this.#guard(this.#follow, result, result)
  }

  fail(error: unknown): void {
    // Called from promises and callbacks, where no caller would catch an error.
    this.#guard(this.#threw, error, undefined)
  }

  /** Like `guard` of Recorders, but without a closure for each step of each call: these were 7 % of all garbage. */
  #guard<Argument, Result>(
    step: (this: this, argument: Argument) => Result,
    argument: Argument,
    otherwise: Result,
  ): Result {
    try {
      return step.call(this, argument)
    } catch (error) {
      this.#recorders.missed(this.#recorder, error)
      return otherwise
    }
  }

  #threw(this: this, error: unknown): void {
    this.#recorder.threw(error, this.#id)
  }

  #begin(this: this, description: TracedFunction): void {
    const recorder = this.#recorder
    const { kind, hook } = description
    const [first, , third] = this.#args
    if (kind === 'handler') recorder.mark('kernel.controller_arguments')
    if (hook === 'onSend') recorder.answering()
    // Only Fastify's own errors are new here. Traced functions have recorded theirs.
    if (kind === 'error-handler') recorder.failing(first)
    this.#id = recorder.calls.open(description)
    if (this.#id !== null && kind === 'error-handler') recorder.handling(first, this.#id)
    if (this.#id !== null && hook === 'onError') recorder.handling(third, this.#id)
  }

  #follow(this: this, result: unknown): unknown {
    if (result === undefined) {
      this.#returned('sync')
      return result
    }
    // The reply is a thenable too, but it settles when the response is sent, not when the function ends.
    const isReply = isThenable(result) && !isPromise(result) && this.#args.includes(result)
    if (isReply) {
      this.#returned('sync')
      return result
    }
    // `then` must be called only once, and in this scope: a query builder sends its query on each call.
    const ownResult = isThenable(result) ? recorderScope.run(this.#recorder, () => Promise.resolve(result)) : result
    if (isPromise(ownResult)) this.#returned('async')
    else if (this.#isCalledBack) return result
    void whenThere(
      ownResult,
      value => this.#settled(value),
      error => this.fail(error),
    )
    return ownResult
  }

  /** Fastify sends what a handler returns, so an error in it counts as thrown. Hooks may return anything. */
  #settled(value: unknown): void {
    if (this.#isAnswer && isError(value)) this.fail(value)
    else this.#end()
  }

  #returned(form: 'sync' | 'async'): void {
    if (this.#id !== null) this.#recorder.calls.returned(this.#id, form)
  }

  /** Fastify treats any truthy first argument of a callback as an error. */
  #calledBack(error: unknown): void {
    if (error) this.fail(error)
    else this.#end()
  }

  #end(): void {
    if (this.#id !== null) this.#guard(this.#close, this.#id, undefined)
  }

  #close(this: this, id: number): void {
    this.#recorder.calls.close(id, this.#isAnswer ? 'replied' : 'continued')
  }
}

function isAnswer(kind: SpanKind): boolean {
  return kind === 'handler' || kind === 'not-found-handler' || kind === 'error-handler'
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** What each traced function stands for, and where it was registered. */
export const originals = new WeakMap<AnyFunction, { subject: AnyFunction; location: Location | null }>()

/** Marks a function of the profiler, so that `traced` leaves it as it is. */
export function untraced<Subject extends AnyFunction>(subject: Subject): Subject {
  originals.set(subject, { subject, location: null })
  return subject
}

/** Wraps a function to time its calls. A proxy keeps all properties that Fastify may read, such as name and arity. */
export function traced<Subject extends AnyFunction>(
  subject: Subject,
  description: TracedFunction,
  application: WatchedApplication,
): Subject {
  if (originals.has(subject)) return subject
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
  originals.set(proxy, { subject, location: description.location })
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
