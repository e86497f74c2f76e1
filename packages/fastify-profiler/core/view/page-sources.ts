import type { ExplainPool } from '../../features/explain/explain-query.ts'
import type { LiveRows } from '../../features/home/live-rows.ts'
import type { NotRepeatable } from '../../features/replay/repeatable-request.ts'
import type { AnyPanel, ViewContext } from '../feature.ts'
import type { BrowserEvent, Profile } from '../profile.ts'
import type { ProfileArchive } from '../store/profile-archive.ts'
import type { Boot } from '../store/store-directory.ts'

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
  panels: readonly AnyPanel[]
  /** Labels to search by. */
  labels: readonly string[]
}
