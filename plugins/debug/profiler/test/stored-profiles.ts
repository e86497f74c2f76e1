import { defaultStoreBounds } from '../base/bounds.ts'
import type { Configuration, Profile } from '../base/profile.ts'
import { serialise, summarise } from '../store/profile-text.ts'
import { ProfileStore } from '../store/profile-store.ts'

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
