import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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
