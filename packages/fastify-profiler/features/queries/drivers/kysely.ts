import { listOf, propertyOf } from '../../../core/foreign-value.ts'
import type { AskedQuery } from '../recorded-queries.ts'
import { type Driver, prototypeOf, replaceMethod, watchedMethod } from './driver.ts'

/** Kysely knows the caller of a query. The driver below it knows how long it took. */
export const kyselyDriver: Driver = {
  packages: ['kysely'],
  patch(exports) {
    replaceMethod(prototypeOf(exports, 'DefaultQueryExecutor'), 'executeQuery', execute =>
      watchedMethod(execute, { read, rowsIn }),
    )
  },
  moduleFiles: file => [file.replace(/([\\/])cjs([\\/])/, '$1esm$2')],
}

function read([compiled]: readonly unknown[], executor: object): AskedQuery | null {
  const sql = propertyOf(compiled, 'sql')
  if (typeof sql !== 'string') return null
  return {
    system: systemOf(executor),
    statement: sql,
    parameters: listOf(propertyOf(compiled, 'parameters')),
  }
}

const systems: ReadonlyArray<[adapter: RegExp, system: string]> = [
  [/postgres|pglite/i, 'postgresql'],
  [/mysql/i, 'mysql'],
  [/sqlite/i, 'sqlite'],
  [/mssql/i, 'mssql'],
]

/** The database that a dialect is for, by the name of its adapter: drivers of unknown libraries say nothing. */
function systemOf(executor: object): string {
  const name = String(propertyOf(propertyOf(propertyOf(executor, 'adapter'), 'constructor'), 'name'))
  return systems.find(([pattern]) => pattern.test(name))?.[1] ?? 'sql'
}

function rowsIn(result: unknown): number | null {
  const changed = propertyOf(result, 'numAffectedRows')
  return changed === undefined ? listOf(propertyOf(result, 'rows')).length : Number(changed)
}
