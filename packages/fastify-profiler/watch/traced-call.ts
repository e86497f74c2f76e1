import { performance } from 'node:perf_hooks'
import { isPromise } from 'node:util/types'
import { isError, isFunction } from '../base/foreign-value.ts'
import type { SpanKind } from '../base/profile.ts'
import { whenThere } from '../base/promised.ts'
import type { Recorder } from './recorder.ts'
import type { Recorders } from './recorders.ts'
import type { TracedFunction } from './running-calls.ts'

/** Follows one call of a traced function until it returns, throws, calls back or settles its promise. */
export class TracedCall {
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
      // Declared before it is assigned: see watch-reply.ts.
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
    // `then` must be called only once: a query builder sends its query on each call.
    const ownResult = isThenable(result) ? Promise.resolve(result) : result
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
