import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { defaultStoreBounds, type StoreBounds } from '../core/bounds.ts'
import type { Profile } from '../core/profile.ts'
import type { Configuration } from '../core/store/store-directory.ts'
import { ProfileStore } from '../core/store/profile-store.ts'
import { serialise } from '../core/store/profile-text.ts'
import { summarise } from '../core/store/profile-writer.ts'
import '../features/index.ts'
import { makeFolder } from './folder.ts'
import { profile } from './views/example-profile.ts'

const now = Date.now()

/** A store that is closed after the test, and its complaints. */
export function storeIn(t: Test, directory = makeFolder(), bounds: Partial<StoreBounds> = {}) {
  const complaints: string[] = []
  const store = new ProfileStore({
    directory,
    bounds: { ...defaultStoreBounds, ...bounds },
    complain: (_error, message) => {
      complaints.push(message)
    },
  })
  t.teardown(() => store.close())
  return { store, complaints, directory }
}

/** Writes a profile to a store: all at the same time, unless a change says another. */
export function write(store: ProfileStore, token: string, changes: Partial<Profile> = {}): void {
  const changed = profile({ time: now, token, ...changes })
  store.write(summarise(changed), serialise(changed, Infinity))
}

export function tokensIn(store: ProfileStore): string[] {
  return store.search({ perPage: 200 }).profiles.map(({ token }) => token)
}

export function bytesIn(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}

/** Writes profiles to a folder, as an application does. */
export function storeProfiles(directory: string, profiles: readonly Profile[], configuration?: Configuration): void {
  const store = new ProfileStore({
    directory,
    bounds: defaultStoreBounds,
    complain: (error: unknown) => {
      throw error
    },
  })
  if (configuration !== undefined) store.writeConfiguration(configuration)
  for (const profile of profiles) store.write(summarise(profile), serialise(structuredClone(profile), Infinity))
  store.close()
}
