import { dirname, join } from 'node:path'
import { isPromise } from 'node:util/types'
import { type AnyFunction, isFunction, isObject } from '../../../core/foreign-value.ts'
import { lineOfBuilder, rememberBuilder, withCaller } from '../queries.ts'
import { type Driver, replaceMethod } from './driver.ts'

/**
 * Drizzle sends a query when it is awaited, where its caller is lost. So the caller is the line that begins to build
 * it. The query itself is told by the driver below.
 */
export const drizzleDriver: Driver = {
  packages: ['drizzle-orm'],
  patch(exports) {
    if (!isObject(exports)) return
    for (const exported of Object.values(exports)) {
      if (!isFunction(exported) || !(entityKind in exported)) continue
      const prototype: unknown = Reflect.get(exported, 'prototype')
      if (!isObject(prototype)) continue
      for (const name of methods) replaceMethod(prototype, name, watchedBuild)
    }
  },
  moduleFiles: (file, installed) =>
    dialectsOf(installed).flatMap(dialect => [
      join(dirname(file), `${dialect}-core`, 'index.js'),
      join(dirname(file), `${dialect}-core`, 'query-builders', 'query.js'),
      join(dirname(file), `${dialect}-core`, 'query-builders', 'count.js'),
    ]),
}

/** The libraries that tell that an application uses a dialect. SQLite comes with Node. */
const libraries = {
  pg: ['pg', 'postgres', '@neondatabase/serverless', '@vercel/postgres', '@electric-sql/pglite'],
  mysql: ['mysql2', '@planetscale/database', '@tidbcloud/serverless'],
}

/** The dialects that an application may use. Loading the others would take most of its start. */
function dialectsOf(installed: readonly string[]): string[] {
  const used = Object.entries(libraries).filter(([, names]) => names.some(name => installed.includes(name)))
  return [...(used.length === 0 ? Object.keys(libraries) : used.map(([dialect]) => dialect)), 'sqlite']
}

/** What all classes of Drizzle have. */
const entityKind = Symbol.for('drizzle:entityKind')

/** The methods after which a query can be awaited, and those that send it. */
const methods = ['from', 'values', 'set', 'select', 'delete', 'findMany', 'findFirst', '$count'].concat(
  'then',
  'execute',
  'all',
  'get',
  'run',
)

function watchedBuild(build: AnyFunction): AnyFunction {
  return function remembered(this: object, ...args: unknown[]): unknown {
    const builder = withCaller(lineOfBuilder(this), (): unknown => Reflect.apply(build, this, args))
    if (isObject(builder) && 'then' in builder && !isPromise(builder)) rememberBuilder(builder, remembered)
    return builder
  }
}
