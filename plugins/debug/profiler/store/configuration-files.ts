import { readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import type { Configuration } from '../base/profile.ts'
import type { StoreDirectory } from './store-directory.ts'

const configurationsKept = 20

const configurationName = /^configuration-[\w-]+\.json$/

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
    this.#directory.make()
    const path = this.#pathOf(configuration.key)
    // Renamed when complete, so that no process reads half of it.
    writeFileSync(`${path}.${process.pid}`, JSON.stringify(configuration), { mode: 0o600 })
    renameSync(`${path}.${process.pid}`, path)
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
    const path = this.#pathOf(key)
    try {
      if (!statSync(path).isFile()) return null
      const configuration: unknown = JSON.parse(readFileSync(path, 'utf8'))
      return isConfiguration(configuration, key) ? configuration : null
    } catch {
      return null
    }
  }

  #pathOf(key: string): string {
    return this.#directory.pathOf(`configuration-${key}.json`)
  }
}

function isConfiguration(value: unknown, key: string): value is Configuration {
  return typeof value === 'object' && value !== null && 'key' in value && value.key === key
}
