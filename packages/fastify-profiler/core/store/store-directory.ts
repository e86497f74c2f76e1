import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { attempt, isRecord, propertyOf } from '../foreign-value.ts'
import type { Json, Route } from '../profile.ts'
import type { PluginNode } from '../watch/plugin-tree.ts'

/** The folder that holds a store's files. */
export class StoreDirectory {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  pathOf(name: string): string {
    return join(this.#path, name)
  }

  /** Creates the folder, with a .gitignore. @returns whether it was missing */
  make(): boolean {
    const isNew = mkdirSync(this.#path, { recursive: true, mode: 0o700 }) !== undefined
    if (isNew) writeFileSync(this.pathOf('.gitignore'), '*\n', { mode: 0o600 })
    return isNew
  }

  /** Creates or replaces a file, and makes the folder if it is missing. Throws errors of the file system. */
  replace(name: string, text: string): void {
    this.make()
    const path = this.pathOf(name)
    // Renamed when complete, so that no process reads half of it.
    writeFileSync(`${path}.${process.pid}`, text, { mode: 0o600 })
    renameSync(`${path}.${process.pid}`, path)
  }

  /** The names of regular files that match. Folders and pipes are not the store's. */
  filesNamed(pattern: RegExp): string[] {
    return readdirSync(this.#path, { withFileTypes: true })
      .filter(entry => entry.isFile() && pattern.test(entry.name))
      .map(({ name }) => name)
  }
}

const addressFile = 'server.json'
const ownFile = /^server\.[\w-]+\.json$/

export interface Address {
  /** Where an application shows its profiles. */
  url: string
  /** Known only to those who can read the folder, so that a server which tells it has its profiles there. */
  id: string
}

/**
 * Keeps the addresses of the applications that listen, each in a file of its own, and a copy of the newest in
 * `server.json`.
 */
export class AddressFile {
  readonly #directory: StoreDirectory

  constructor(directory: StoreDirectory) {
    this.#directory = directory
  }

  /** Also deletes the addresses of processes that were killed. Throws errors of the file system. */
  write(address: Address): void {
    const text = `${JSON.stringify({ ...address, pid: process.pid })}\n`
    for (const name of this.#ownFiles().filter(name => !this.#isRunning(name))) this.#delete(name)
    this.#directory.replace(ownFileOf(address), text)
    this.#directory.replace(addressFile, text)
  }

  /** The address of the application that listened last. Null if there is none, or if it cannot be read. */
  read(): Address | null {
    return addressIn(this.#parse(addressFile))
  }

  /** The addresses of all applications that run, in the order in which they began to listen. */
  readAll(): Address[] {
    return this.#ownFiles()
      .filter(name => this.#isRunning(name))
      .flatMap(name => addressIn(this.#parse(name)) ?? [])
  }

  /** Deletes the address of an application, and restores that of another. Throws errors of the file system. */
  remove(address: Address): void {
    this.#delete(ownFileOf(address))
    if (this.read()?.id !== address.id) return
    const next = this.readAll().at(-1)
    if (next === undefined) this.#delete(addressFile)
    else this.#directory.replace(addressFile, `${JSON.stringify(next)}\n`)
  }

  #ownFiles(): string[] {
    const timeOf = (name: string) => attempt(() => statSync(this.#directory.pathOf(name)).mtimeMs, 0)
    const names = attempt(() => this.#directory.filesNamed(ownFile), [])
    return names
      .map(name => ({ name, time: timeOf(name) }))
      .sort((one, other) => one.time - other.time)
      .map(({ name }) => name)
  }

  /** Whether the process that wrote the file runs. */
  #isRunning(name: string): boolean {
    const pid = propertyOf(this.#parse(name), 'pid')
    if (typeof pid !== 'number') return false
    try {
      return process.kill(pid, 0)
    } catch (error) {
      // A process of another user runs, and may not be signalled.
      return propertyOf(error, 'code') === 'EPERM'
    }
  }

  #parse(name: string): unknown {
    const text = attempt(() => readFileSync(this.#directory.pathOf(name), 'utf8'), '')
    return attempt((): unknown => JSON.parse(text), null)
  }

  #delete(name: string): void {
    rmSync(this.#directory.pathOf(name), { force: true })
  }
}

function addressIn(value: unknown): Address | null {
  const [url, id] = [propertyOf(value, 'url'), propertyOf(value, 'id')]
  // A header must be able to carry it.
  return typeof url === 'string' && typeof id === 'string' && /^[\w-]+$/.test(id) ? { url, id } : null
}

function ownFileOf({ id }: Address): string {
  return `server.${id}.json`
}

/** The application's versions, settings, plugins and routes. Many profiles share one. */
export interface Configuration {
  key: string
  versions: Record<string, string>
  environment: string | null
  /** Passed in by the application. Nothing is read from the environment. */
  settings: Record<string, Json>
  plugins: PluginNode
  routes: Route[]
}

const configurationsKept = 20

const configurationName = /^configuration-([\w-]+)\.json$/

/** Keeps the configurations that profiles refer to, one per file. */
export class ConfigurationFiles {
  readonly #directory: StoreDirectory
  /** The configuration written last. */
  #current: Configuration | null = null

  constructor(directory: StoreDirectory) {
    this.#directory = directory
  }

  /** Throws errors of the file system. */
  write(configuration: Configuration): void {
    this.#current = configuration
    this.#directory.replace(nameOf(configuration.key), JSON.stringify(configuration))
    const names = this.#directory.filesNamed(configurationName).sort()
    for (const name of names.slice(0, -configurationsKept)) unlinkSync(this.#directory.pathOf(name))
  }

  /** Writes the last configuration again, after its folder was deleted. */
  writeAgain(): void {
    if (this.#current !== null) this.write(this.#current)
  }

  /** Finds a configuration; null if it has been deleted or cannot be read. */
  find(key: string): Configuration | null {
    if (this.#current?.key === key) return this.#current
    if (!/^[\w-]+$/.test(key)) return null
    const path = this.#directory.pathOf(nameOf(key))
    try {
      if (!statSync(path).isFile()) return null
      const configuration: unknown = JSON.parse(readFileSync(path, 'utf8'))
      return isConfiguration(configuration, key) ? configuration : null
    } catch {
      return null
    }
  }

  /** The configuration that was stored last; null if there is none. */
  findNewest(): Configuration | null {
    const names = attempt(() => this.#directory.filesNamed(configurationName), []).sort()
    const key = configurationName.exec(names.at(-1) ?? '')?.[1]
    return key === undefined ? null : this.find(key)
  }
}

function nameOf(key: string): string {
  return `configuration-${key}.json`
}

function isConfiguration(value: unknown, key: string): value is Configuration {
  return isRecord(value) && value.key === key
}
