import { readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { attempt, isRecord } from '../../core/foreign-value.ts'
import type { Unseen } from '../../core/profile.ts'

/** Libraries that reach a database or a service without any that is watched. */
const libraries: Record<string, Exclude<Unseen['what'], 'logs'>> = {
  '@prisma/client': 'queries',
  '@google-cloud/firestore': 'queries',
  '@libsql/client': 'queries',
  '@valkey/valkey-glide': 'queries',
  'cassandra-driver': 'queries',
  couchbase: 'queries',
  duckdb: 'queries',
  '@duckdb/node-api': 'queries',
  level: 'queries',
  lmdb: 'queries',
  mariadb: 'queries',
  memcached: 'queries',
  memjs: 'queries',
  mysql: 'queries',
  'neo4j-driver': 'queries',
  oracledb: 'queries',
  'pg-native': 'queries',
  sqlite3: 'queries',
  '@grpc/grpc-js': 'calls',
  'node-libcurl': 'calls',
}

/** Finds the libraries that the application of a folder depends on, itself or by another, and that nothing watches. */
export function unwatchedLibraries(folder: string): Unseen[] {
  const dependents = dependentsIn(folder)
  // Prisma's adapters send their queries with libraries such as pg.
  const hasAdapter = dependents[0]?.names.some(name => name.startsWith('@prisma/adapter-')) === true
  const found = new Map<string, Unseen>()
  for (const { file, names } of dependents) {
    for (const name of names) {
      const what = Object.hasOwn(libraries, name) ? libraries[name] : undefined
      if (what === undefined || found.has(name) || (name === '@prisma/client' && hasAdapter)) continue
      const version = contentOf(packageOf(name, file) ?? '').version
      if (typeof version !== 'string') continue
      found.set(name, { what, name, says: `${name} ${version} is installed and not watched: its ${what} are missing.` })
    }
  }
  return [...found.values()]
}

/** A package.json, and what it depends on. */
export interface Dependent {
  file: string
  names: readonly string[]
}

/** The application's package, and those that it depends on. They may depend on libraries of databases, too. */
export function dependentsIn(folder: string): Dependent[] {
  const file = nearestPackage(folder)
  if (file === null) return []
  const names = dependenciesIn(file)
  const others = names.flatMap(name => (Object.hasOwn(libraries, name) ? [] : (packageOf(name, file) ?? [])))
  return [{ file, names }, ...others.map(other => ({ file: other, names: dependenciesIn(other) }))]
}

/** The package.json of an application that depends on a package; null if it does not. */
export function dependentFile(name: string, folder: string): string | null {
  const file = nearestPackage(folder)
  return file !== null && dependenciesIn(file).includes(name) ? file : null
}

function nearestPackage(folder: string): string | null {
  const file = join(folder, 'package.json')
  if (attempt(() => readFileSync(file), null) !== null) return file
  return dirname(folder) === folder ? null : nearestPackage(dirname(folder))
}

function dependenciesIn(file: string): string[] {
  const { dependencies, optionalDependencies } = contentOf(file)
  return [dependencies, optionalDependencies].flatMap(names => (isRecord(names) ? Object.keys(names) : []))
}

/** The file of a dependency's package.json; null if it is not installed. */
function packageOf(name: string, dependent: string): string | null {
  const folders = createRequire(dependent).resolve.paths(name) ?? []
  const files = folders.map(folder => attempt(() => realpathSync(join(folder, name, 'package.json')), null))
  return files.find(file => file !== null) ?? null
}

function contentOf(file: string): Record<string, unknown> {
  const content = attempt((): unknown => JSON.parse(readFileSync(file, 'utf8')), null)
  return isRecord(content) ? content : {}
}
