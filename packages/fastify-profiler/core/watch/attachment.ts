/**
 * Attaches a value to another object, as a property that is neither enumerated nor read through the prototype chain.
 * For performance: a WeakMap keeps requests alive until V8's next full garbage collection, seconds later.
 */
export class Attachment<Value> {
  readonly #key = Symbol('profiler')

  get(target: object): Value | undefined {
    return this.#isOn(target) ? target[this.#key] : undefined
  }

  set(target: object, value: Value): void {
    Object.defineProperty(target, this.#key, { value, configurable: true })
  }

  delete(target: object): void {
    Reflect.deleteProperty(target, this.#key)
  }

  #isOn(target: object): target is Record<symbol, Value> {
    return Object.hasOwn(target, this.#key)
  }
}
