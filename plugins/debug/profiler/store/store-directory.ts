import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder that holds a store's files. */
export class StoreDirectory {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** The path of a file in it. */
  pathOf(name: string): string {
    return join(this.#path, name)
  }

  /** Makes the folder, and keeps it out of the repository that it may be in. @returns whether there was none */
  make(): boolean {
    const isNew = mkdirSync(this.#path, { recursive: true, mode: 0o700 }) !== undefined
    if (isNew) writeFileSync(this.pathOf('.gitignore'), '*\n', { mode: 0o600 })
    return isNew
  }

  /** Regular files only: the store has made no folder or pipe of such a name. */
  filesNamed(pattern: RegExp): string[] {
    return readdirSync(this.#path, { withFileTypes: true })
      .filter(entry => entry.isFile() && pattern.test(entry.name))
      .map(({ name }) => name)
  }
}
