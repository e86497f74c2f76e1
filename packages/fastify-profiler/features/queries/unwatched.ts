import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { attempt, isRecord } from '../../core/foreign-value.ts'
import type { Unseen } from '../../core/profile.ts'

/** Libraries that reach a database or a service without any that is watched. */
const libraries: Record<string, Exclude<Unseen['what'], 'logs'>> = {
  '@prisma/client': 'queries',
  '@libsql/client': 'queries',
  'cassandra-driver': 'queries',
  couchbase: 'queries',
  duckdb: 'queries',
  '@duckdb/node-api': 'queries',
  level: 'queries',
  lmdb: 'queries',
  mariadb: 'queries',
  memcached: 'queries',
  memjs: 'queries',
  mssql: 'queries',
  'neo4j-driver': 'queries',
  oracledb: 'queries',
  'pg-native': 'queries',
  postgres: 'queries',
  sqlite3: 'queries',
  tedious: 'queries',
  '@grpc/grpc-js': 'calls',
  'node-libcurl': 'calls',
}

/** Finds the libraries that the application of a folder depends on, and that nothing watches. */
export function unwatchedLibraries(folder: string): Unseen[] {
  const file = nearestPackage(folder)
  if (file === null) return []
  const names = Object.keys(dependenciesIn(file))
  // Prisma's adapters send their queries with libraries such as pg.
  const hasAdapter = names.some(name => name.startsWith('@prisma/adapter-'))
  return names.flatMap(name => {
    const what = Object.hasOwn(libraries, name) ? libraries[name] : undefined
    if (what === undefined || (name === '@prisma/client' && hasAdapter)) return []
    const version = versionOf(name, file)
    return version === null
      ? []
      : [{ what, name, says: `${name} ${version} is installed and not watched: its ${what} are missing.` }]
  })
}

/** The package.json of an application that depends on a package; null if it does not. */
export function dependentFile(name: string, folder: string): string | null {
  const file = nearestPackage(folder)
  return file !== null && Object.hasOwn(dependenciesIn(file), name) ? file : null
}

function nearestPackage(folder: string): string | null {
  const file = join(folder, 'package.json')
  if (attempt(() => readFileSync(file), null) !== null) return file
  return dirname(folder) === folder ? null : nearestPackage(dirname(folder))
}

function dependenciesIn(file: string): Record<string, unknown> {
  const content = attempt((): unknown => JSON.parse(readFileSync(file, 'utf8')), null)
  return isRecord(content) && isRecord(content.dependencies) ? content.dependencies : {}
}

/** The installed version of a dependency; null if it is not installed. */
function versionOf(name: string, file: string): string | null {
  for (const folder of createRequire(file).resolve.paths(name) ?? []) {
    const content = attempt((): unknown => JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')), null)
    if (isRecord(content) && typeof content.version === 'string') return content.version
  }
  return null
}
