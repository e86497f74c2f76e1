import { readFileSync, rmSync, statSync } from 'node:fs'
import { attempt, propertyOf } from '../base/foreign-value.ts'
import type { StoreDirectory } from './store-directory.ts'

const fileName = 'server.json'
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
    this.#directory.replace(fileName, text)
  }

  /** The address of the application that listened last. Null if there is none, or if it cannot be read. */
  read(): Address | null {
    return addressIn(this.#parse(fileName))
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
    if (next === undefined) this.#delete(fileName)
    else this.#directory.replace(fileName, `${JSON.stringify(next)}\n`)
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
    return typeof pid === 'number' && attempt(() => process.kill(pid, 0), false)
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
