import type { ExplainPool } from '../features/explain/explain-query.ts'
import type { LiveRows } from '../features/home/live-rows.ts'
import type { NotRepeatable } from '../features/replay/repeatable-request.ts'
import type { FastifyInstance } from 'fastify'
import type { AnyPanel, ViewContext } from './panel.ts'
import type { BrowserEvent, Profile } from './profile.ts'
import type { ProfileArchive } from './store/profile-archive.ts'
import type { ProfileAction } from './view/profile-header.ts'
import type { EnteredRequest } from './watch/exchanges.ts'
import type { Boot } from './store/store-directory.ts'

/** What the profiler's pages are made from. */
export interface PageSources {
  archive: ProfileArchive
  live: LiveRows
  viewContext: (profile: Profile) => ViewContext
  /** Reads what a page reports about itself; empty if it makes no sense. */
  readReport: (report: unknown) => BrowserEvent[]
  /** Sends the request of a profile again. @returns the token of the new profile */
  replay: (profile: Profile) => Promise<string | NotRepeatable>
  /** The newest start of an application; null if it is not stored any more. */
  newestBoot: () => Boot | null
  base: string
  /** Null if the application has none. */
  explainPool: ExplainPool | null
  editorUrl: string | null
  /** The application's folder. */
  root: string
  /** All features, in the order of the menu. */
  features: readonly Feature[]
  /** The panels of the features, and the application's own. */
  panels: readonly AnyPanel[]
  /** Labels to search by. */
  labels: readonly string[]
}

/** What one feature adds to the profiler. `features/index.ts` lists them. */
export interface Feature {
  name: string
  /** Shows its part of a profile. The menu has the panels in the order of the features. */
  panel?: AnyPanel
  /** Adds its pages. Clients without access do not find them. */
  routes?: (app: FastifyInstance, sources: PageSources) => void
  /** What the header of a profile offers. */
  action?: ProfileAction
  /** Called when Fastify has found the route of a request. */
  entered?: (request: EnteredRequest) => void
}
