/**
 * A property that others' objects are given, seen by nobody else. Where objects are many and short-lived a weak map
 * is no match for it: in V8 the values of an old one, and all they refer to, stay in memory until a full garbage
 * collection.
 */
export class Attachment<Value> {
  readonly #key = Symbol('profiler')

  get (target: object): Value | undefined {
    return Reflect.get(target, this.#key)
  }

  set (target: object, value: Value): void {
    Reflect.set(target, this.#key, value)
  }

  delete (target: object): void {
    Reflect.deleteProperty(target, this.#key)
  }
}
