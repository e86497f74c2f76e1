import { isFunction, type AnyFunction, isObject, propertyOf } from '../../base/foreign-value.ts'

/** The names of the methods that were replaced, by the object that has them. */
const replaced = new WeakMap<object, Set<string>>()

/** Properties that a function of another kind may not have. */
const notCopied = new Set<PropertyKey>(['prototype', 'arguments', 'caller'])

/**
 * Replaces a method on the prototype that defines it. The replacement keeps the name, the length and all other
 * properties of the method. Does nothing if there is no such method, or if it has been replaced before.
 * @param owner the object or prototype that has the method, itself or by inheritance
 */
export function replaceMethod(owner: unknown, name: string, replace: (method: AnyFunction) => AnyFunction): void {
  const holder = holderOf(owner, name)
  const method: unknown = holder === null ? null : Object.getOwnPropertyDescriptor(holder, name)?.value
  if (holder === null || !isFunction(method)) return
  const names = replaced.get(holder) ?? new Set()
  if (names.has(name)) return
  const replacement = replace(method)
  for (const key of Reflect.ownKeys(method)) {
    if (notCopied.has(key)) continue
    Reflect.defineProperty(replacement, key, { ...Object.getOwnPropertyDescriptor(method, key) })
  }
  replaced.set(holder, names.add(name))
  Reflect.defineProperty(holder, name, { ...Object.getOwnPropertyDescriptor(holder, name), value: replacement })
}

/** The prototype of a class that a module exports under this name; null if there is none. */
export function prototypeOf(exports: unknown, name: string): object | null {
  const exported: unknown = propertyOf(exports, name)
  const prototype: unknown = isFunction(exported) ? Reflect.get(exported, 'prototype') : null
  return isObject(prototype) ? prototype : null
}

/** The prototype of a class that is all that a module exports; null if it is no class. */
export function classItself(exports: unknown): object | null {
  return prototypeOf({ exports }, 'exports')
}

function holderOf(owner: unknown, name: string): object | null {
  for (let holder = owner; isObject(holder); holder = Object.getPrototypeOf(holder)) {
    if (Object.hasOwn(holder, name)) return holder
  }
  return null
}
