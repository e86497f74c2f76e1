import type { Profile } from '../base/profile.ts'
import type { ViewContext } from '../collect/panel.ts'
import type { ExplainPool } from '../explain/explain-pool.ts'
import type { ProfileStore } from '../store/profile-store.ts'
import { armedTo } from '../watch/sampling.ts'
import { resolveSources } from './source-excerpt.ts'

/** The settings that all views share. */
export interface ViewSettings extends Pick<ViewContext, 'base' | 'editorUrl' | 'root'> {
  store: ProfileStore
  explainPool: ExplainPool | null
}

/** The context for rendering a profile. */
export function makeViewContext(
  profile: Profile,
  { base, editorUrl, explainPool, root, store }: ViewSettings,
): ViewContext {
  const { matched } = profile.routing
  return {
    profile: resolveSources(profile),
    configuration: store.findConfiguration(profile.configuration),
    base,
    editorUrl,
    root,
    explains: explainPool !== null,
    readSamples: () => store.findSamples(profile.token),
    armed: matched === null ? null : armedTo(profile.method, matched.url),
  }
}
