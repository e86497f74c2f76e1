/**
 * A property that others' objects are given, seen by nobody else: neither inherited nor copied. Where objects are many
 * and short-lived a weak map is no match for it: in V8 the values of an old one, and all they refer to, stay in memory
 * until a full garbage collection.
 */
export class Attachment<Value> {
  readonly #key = Symbol('profiler')

  get(target: object): Value | undefined {
    return Object.hasOwn(target, this.#key) ? Reflect.get(target, this.#key) : undefined
  }

  set(target: object, value: Value): void {
    Object.defineProperty(target, this.#key, { value, configurable: true })
  }

  delete(target: object): void {
    Reflect.deleteProperty(target, this.#key)
  }
}
