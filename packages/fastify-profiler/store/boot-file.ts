import { readFileSync } from 'node:fs'
import { bootVersion, type Boot } from '../base/boot.ts'
import { attempt, isObject } from '../base/foreign-value.ts'
import type { StoreDirectory } from './store-directory.ts'

const fileName = 'boot.json'

/** Keeps the newest start of the applications that share a directory. */
export class BootFile {
  readonly #directory: StoreDirectory

  constructor(directory: StoreDirectory) {
    this.#directory = directory
  }

  /** Throws errors of the file system. */
  write(boot: Boot): void {
    this.#directory.replace(fileName, JSON.stringify(boot))
  }

  /** Null if there is none, or if it cannot be read. */
  read(): Boot | null {
    return attempt(() => {
      const boot: unknown = JSON.parse(readFileSync(this.#directory.pathOf(fileName), 'utf8'))
      return isBoot(boot) ? boot : null
    }, null)
  }
}

function isBoot(value: unknown): value is Boot {
  return isObject(value) && 'version' in value && value.version === bootVersion && 'spans' in value
}
