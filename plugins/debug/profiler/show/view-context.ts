import type { Profile } from '../base/profile.ts'
import type { ViewContext } from '../collect/panel.ts'
import type { ProfileStore } from '../store/profile-store.ts'
import { resolveSources } from './source-excerpt.ts'

/** The settings that all views share. */
export interface ViewSettings extends Pick<ViewContext, 'base' | 'editorUrl' | 'root'> {
  store: ProfileStore
}

/** The context for rendering a profile. */
export function makeViewContext(profile: Profile, { base, editorUrl, root, store }: ViewSettings): ViewContext {
  const configuration = store.findConfiguration(profile.configuration)
  return { profile: resolveSources(profile), configuration, base, editorUrl, root }
}
