import { isObject, isFunction, type AnyFunction } from '../base/foreign-value.ts'

/** The values of an object's internal symbols with this description; empty if this version of the library has none. */
export function internal(owner: object, description: string): unknown[] {
  const keys = Object.getOwnPropertySymbols(owner).filter(symbol => symbol.description === description)
  return keys.map((key): unknown => Reflect.get(owner, key))
}

/** Fastify's list of an instance's hooks, by name. */
export interface Hooks extends Record<string, unknown> {
  add: (name: string, hook: AnyFunction) => void
}

/** The hooks of a Fastify instance; none if this version keeps them elsewhere. */
export function hooksOf(app: object): Hooks[] {
  return internal(app, 'fastify.hooks').filter(isHooks)
}

/** The encapsulation contexts within a Fastify instance. */
export function childrenOf(app: object): object[] {
  return internal(app, 'fastify.children').flat().filter(isObject)
}

function isHooks(value: unknown): value is Hooks {
  return isObject(value) && 'add' in value && isFunction(value.add)
}
