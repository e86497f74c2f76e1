import { readFileSync, statSync, unlinkSync } from 'node:fs'
import { attempt } from '../base/foreign-value.ts'
import type { Configuration } from '../base/profile.ts'
import type { StoreDirectory } from './store-directory.ts'

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
  return typeof value === 'object' && value !== null && 'key' in value && value.key === key
}
