import { performance } from 'node:perf_hooks'
// Imported, because tests replace the global timers.
import { clearTimeout, setTimeout } from 'node:timers'
import { type AnyFunction, isError, isFunction } from '../foreign-value.ts'
import { Recorder, type RecorderParts } from './recorder.ts'
import { asLoading, LoadingStep, recorderScope, type StepDescription } from './current-recorder.ts'
import { identify } from './request-identity.ts'

/** Steps that are recorded. */
const stepsKept = 500

/** A call of a plugin or a hook. */
interface StepCall {
  target: AnyFunction
  self: unknown
  parameters: unknown[]
  /** Where its callback is among the parameters. */
  callback: number
}

interface ApplicationStartParts {
  recorded: RecorderParts
  /** Milliseconds after which Fastify gives a plugin up; 0 for never. */
  pluginTimeout: number
}

/** A step that takes longer is stuck, if Fastify does not give it up before. */
const longest = 5000

/** Follows the start of an application: its plugins, then its onReady hooks. */
export class ApplicationStart {
  readonly time = Date.now()
  /** By `performance.now()`. */
  readonly began = performance.now()
  /** By `performance.now()`; null before. */
  ended: number | null = null
  /** Milliseconds in which the profiler itself prepared, as far as they are known. */
  own = 0
  isStuck = false
  /** In the order in which they began. */
  readonly steps: LoadingStep[] = []
  /** The number of steps over the limit. */
  dropped = 0
  /** Called when the start is over or stuck, and when a step fails. */
  changed: () => void = () => {}
  readonly #recorded: RecorderParts
  readonly #deadline: NodeJS.Timeout
  #hooksLeft = 0
  #areHooksRunning = false

  constructor({ recorded, pluginTimeout }: ApplicationStartParts) {
    this.#recorded = recorded
    const patience = pluginTimeout > 0 ? Math.min(longest, pluginTimeout / 2) : longest
    this.#deadline = setTimeout(() => this.#getStuck(), patience).unref()
  }

  /** The innermost steps that run. The start waits for these. */
  get running(): LoadingStep[] {
    const running = this.steps.filter(({ ended }) => ended === null)
    return running.filter(({ children }) => children.every(({ ended }) => ended !== null))
  }

  /** The step that runs in this asynchronous context; null outside all steps of this start. */
  get current(): LoadingStep | null {
    return this.steps.find(step => step === recorderScope.getStore()) ?? null
  }

  /** An onReady hook was added, which will run as a step. */
  expectHook(): void {
    this.#hooksLeft++
  }

  /** The onReady hooks begin to run. */
  runHooks(): void {
    this.#areHooksRunning = true
    this.#deadline.refresh()
    this.#lookForEnd()
  }

  /**
   * Calls a plugin or an onReady hook. It has ended when it calls back, when its promise settles, or if it takes no
   * callback, when it returns.
   * @param ended called with the milliseconds that it took
   */
  run(
    description: StepDescription,
    { target, self, parameters, callback }: StepCall,
    ended: (time: number) => void,
  ): unknown {
    const step = this.#begin(description)
    if (step === null) return Reflect.apply(target, self, parameters)
    const end = (failure: LoadingStep['failure']) => {
      const took = this.#end(step, failure)
      if (took !== null) ended(took)
    }
    const done = parameters[callback]
    if (isFunction(done)) {
      const observedDone = (...results: unknown[]): unknown => {
        end(isError(results[0]) ? { error: results[0] } : null)
        return Reflect.apply(done, undefined, results)
      }
      parameters[callback] = observedDone
    }
    try {
      const result: unknown = recorderScope.run(step, (): unknown => Reflect.apply(target, self, parameters))
      const isCalledBack = target.length > callback
      // Fastify ignores the promise of a hook that takes a callback, so its rejection must stay unhandled.
      if (result instanceof Promise && (step.kind === 'plugin' || !isCalledBack)) {
        result.then(
          () => end(null),
          (error: unknown) => end({ error }),
        )
      } else if (!isCalledBack) end(null)
      return result
    } catch (error) {
      end({ error })
      throw error
    }
  }

  /** Stops recording, and forgets what the steps have recorded. */
  stop(): void {
    clearTimeout(this.#deadline)
    for (const { recorder } of this.steps) {
      recorder.finish()
      recorder.release()
    }
  }

  #begin(description: StepDescription): LoadingStep | null {
    if (this.ended !== null || this.steps.length >= stepsKept) {
      this.dropped++
      if (description.kind === 'hook') this.#endHook()
      return null
    }
    const step = new LoadingStep(description, asLoading(new Recorder(identify({}), this.#recorded)))
    this.steps.push(step)
    description.parent?.children.push(step)
    this.#deadline.refresh()
    return step
  }

  /** @returns the milliseconds that the step took; null if it had ended before */
  #end(step: LoadingStep, failure: LoadingStep['failure']): number | null {
    if (step.ended !== null) return null
    step.ended = performance.now()
    step.failure = failure
    this.isStuck = false
    this.#deadline.refresh()
    if (failure !== null) this.changed()
    else if (step.kind === 'hook') this.#endHook()
    else this.#lookForEnd()
    return step.ended - step.began
  }

  #endHook(): void {
    this.#hooksLeft--
    this.#lookForEnd()
  }

  #lookForEnd(): void {
    if (!this.#areHooksRunning || this.#hooksLeft > 0 || this.ended !== null) return
    this.ended = performance.now()
    this.changed()
    this.stop()
  }

  #getStuck(): void {
    this.isStuck = this.running.length > 0
    this.changed()
  }
}
