import { readFileSync } from 'node:fs'
import { attempt, isObject } from '../../core/foreign-value.ts'
import type { Span } from '../../core/profile.ts'
import type { StoreDirectory } from '../../core/store/store-directory.ts'

/** The version of the stored form. */
export const bootVersion = 1

/** The start of an application: plain data, bounded and masked. Times are milliseconds. */
export interface Boot {
  version: typeof bootVersion
  token: 'boot'
  /** Since 1970, when the application was made. */
  time: number
  /** What the process did before that, such as loading modules. */
  before: number
  /** Until it was ready, or so far. */
  duration: number
  state: BootState
  process: number
  versions: Record<string, string>
  /** Plugins, onReady hooks, and what they did. `start` counts from when the application was made. */
  spans: Span[]
  /** The errors of plugins and hooks. */
  failures: BootFailure[]
  /** Plugins that the bound left out, with all that they did. */
  dropped: number
}

/** starting: not all plugins and hooks have ended. stuck: nothing has ended for seconds. failed: it was given up. */
export type BootState = 'ready' | 'starting' | 'stuck' | 'failed'

export interface BootFailure {
  /** The span of the plugin or hook. */
  span: number
  message: string
}

const bootFile = 'boot.json'

/** Stores the newest start of the applications that share a directory. Throws errors of the file system. */
export function writeBoot(directory: StoreDirectory, boot: Boot): void {
  directory.replace(bootFile, JSON.stringify(boot))
}

/** Null if there is none, or if it cannot be read. */
export function readBoot(directory: StoreDirectory): Boot | null {
  return attempt(() => {
    const boot: unknown = JSON.parse(readFileSync(directory.pathOf(bootFile), 'utf8'))
    return isBoot(boot) ? boot : null
  }, null)
}

function isBoot(value: unknown): value is Boot {
  return isObject(value) && 'version' in value && value.version === bootVersion && 'spans' in value
}
