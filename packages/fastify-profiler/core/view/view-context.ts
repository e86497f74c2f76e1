import { resolveSources } from '../../features/exceptions/source-excerpt.ts'
import type { ExplainPool } from '../../features/explain/explain-query.ts'
import { armedTo } from '../../features/samples/sampling.ts'
import type { ViewContext } from '../panel.ts'
import type { Profile } from '../profile.ts'
import type { ProfileStore } from '../store/profile-store.ts'

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
