import { type ExplainPool, features } from '../feature.ts'
import type { ViewContext } from '../panel.ts'
import type { Profile } from '../profile.ts'
import type { ProfileStore } from '../store/profile-store.ts'

export interface ViewSettings extends Pick<ViewContext, 'base' | 'editorUrl' | 'root'> {
  store: ProfileStore
  explainPool: ExplainPool | null
}

export function makeViewContext(
  profile: Profile,
  { base, editorUrl, explainPool, root, store }: ViewSettings,
): ViewContext {
  return {
    profile: withSources(profile),
    configuration: store.findConfiguration(profile.configuration),
    base,
    editorUrl,
    root,
    explains: system => explainPool !== null && explainPool.knows?.(system) !== false,
    readSamples: () => store.findSamples(profile.token),
  }
}

function withSources(stored: Profile): Profile {
  const profile = { ...stored }
  for (const { readSources } of features) Object.assign(profile, readSources?.(profile))
  return profile
}
