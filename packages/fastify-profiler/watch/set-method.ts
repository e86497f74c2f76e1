import type { AnyFunction } from '../base/foreign-value.ts'

/** Replaces a method of an object that belongs to the application. An inherited method does not become enumerable. */
export function setMethod(owner: object, name: string, method: AnyFunction): void {
  Object.defineProperty(owner, name, { configurable: true, writable: true, value: method })
}
