import { readFileSync, rmSync } from 'node:fs'
import { attempt, propertyOf } from '../base/foreign-value.ts'
import type { StoreDirectory } from './store-directory.ts'

const fileName = 'server.json'

export interface Address {
  /** Where an application shows its profiles. */
  url: string
  /** Known only to those who can read the folder, so that a server which tells it has its profiles there. */
  id: string
}

/** Keeps the address of the application that listened last. */
export class AddressFile {
  readonly #directory: StoreDirectory

  constructor(directory: StoreDirectory) {
    this.#directory = directory
  }

  /** Throws errors of the file system. */
  write(address: Address): void {
    this.#directory.replace(fileName, `${JSON.stringify(address)}\n`)
  }

  /** Null if there is none, or if it cannot be read. */
  read(): Address | null {
    return attempt(() => {
      const address: unknown = JSON.parse(readFileSync(this.#directory.pathOf(fileName), 'utf8'))
      const [url, id] = [propertyOf(address, 'url'), propertyOf(address, 'id')]
      // A header must be able to carry it.
      return typeof url === 'string' && typeof id === 'string' && /^[\w-]+$/.test(id) ? { url, id } : null
    }, null)
  }

  /** Deletes the address, unless another application has stored its own since. Throws errors of the file system. */
  remove({ id }: Address): void {
    if (this.read()?.id === id) rmSync(this.#directory.pathOf(fileName), { force: true })
  }
}
