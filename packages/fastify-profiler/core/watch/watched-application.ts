import type { Unseen } from '../profile.ts'
import type { KnownRoutes } from './known-routes.ts'
import type { PluginTree } from './plugin-tree.ts'
import type { OwnPages, Recorders } from './current-recorder.ts'

/** The state that all watchers of an application share. */
export interface WatchedApplication {
  ownPages: OwnPages
  recorders: Recorders
  routes: KnownRoutes
  plugins: PluginTree
  /** Characters of a path parameter that the router takes. */
  longestParameter: number
  /** Sentences that every profile starts with. */
  notes: Set<string>
  /** Every profile has these. */
  unseen: Unseen[]
}
