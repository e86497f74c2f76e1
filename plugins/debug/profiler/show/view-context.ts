import type { Profile } from '../base/profile.ts'
import type { ViewContext } from '../collect/panel.ts'
import type { ProfileStore } from '../store/profile-store.ts'
import { resolveSources } from './source-excerpt.ts'

/** What all views have in common. */
export interface ViewSettings extends Pick<ViewContext, 'base' | 'editorUrl' | 'root'> {
  store: ProfileStore
}

/** What the views of a profile are given. */
export function makeViewContext(profile: Profile, { base, editorUrl, root, store }: ViewSettings): ViewContext {
  const configuration = store.findConfiguration(profile.configuration)
  return { profile: resolveSources(profile), configuration, base, editorUrl, root }
}
