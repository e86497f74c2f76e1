import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Profile } from './profile.ts'
import type { Configuration } from './store/store-directory.ts'
import type { Blocks } from './view/block.ts'
import type { Place, Tone } from './view/elements.ts'
import type { Recorder } from './watch/recorder.ts'

export type { Tone } from './view/elements.ts'

/** Shown beside the panel's label in the menu; usually a count. */
export interface Badge {
  text: string
  tone: Tone
}

/** An entry of the toolbar, which links to the panel. */
export interface ToolbarItem {
  label: string
  value: string
  tone: Tone
  /** Shown while the pointer or the focus is on the entry. */
  card?: ToolbarCard
}

/** What a toolbar entry says at a second glance. Texts are cut, and only the first rows are shown. */
export interface ToolbarCard {
  /** The claim in a few words: "23 queries, 41.8 ms". */
  title: string
  /** Beside the title: "54% of the request". */
  note?: string
  /** What to look at, with its place. */
  warnings?: readonly string[]
  /** The worst first. */
  rows?: readonly CardRow[]
  /** Below the rows. */
  foot?: string
}

/** A mark such as "20 ×", a text, and its figure. */
export type CardRow = readonly [mark: string, text: string, figure: string]

/** What views get besides their data. */
export interface ViewContext extends Place {
  profile: Profile
  configuration: Configuration | null
  /** The path of the profiler's pages, without a trailing slash: "/_profiler". */
  base: string
  /** The query of the page, for a panel's own settings. */
  query?: URLSearchParams
  /** Whether there is a database to explain the queries of a system with. Missing if there is none. */
  explains?: (system: string) => boolean
  /** Reads the samples of the request, as text; null if there are none. Missing if they cannot be read. */
  readSamples?: () => string | null
  /** Whether it is a file of its own, or a text: it shows everything at once, and nothing that needs the server. */
  isFile?: boolean
}

/** Shows a panel's data. A panel whose data is null is greyed out. */
export interface PanelView<Data> {
  /** The panel's name in URLs (?panel=): letters, digits, - and _. */
  name: string
  label: string
  badge?(data: Data): Badge | null
  toolbarItem?(data: Data, context: ViewContext): ToolbarItem | null
  /** What the panel shows, in pages and as Markdown. */
  view(data: Data, context: ViewContext): Blocks
  /** What stands there without data. Default: that nothing was recorded. */
  empty?(context: ViewContext): Blocks
}

/** A panel of the profiler itself, which reads its data from the profile. */
export interface BuiltInPanel<Data> extends PanelView<Data> {
  read(profile: Profile): Data | null
  /** The panel that opens is the one with the highest number; if all have 0, the first. */
  opens?(profile: Profile): number
}

/**
 * A panel of the application. `collect` runs once per request, after the response was sent. Its result is masked,
 * bounded and stored as JSON, and passed to the other functions when viewed. For a page with a toolbar, `collect` also
 * runs before the response is sent.
 */
export interface Panel<Data> extends PanelView<Data> {
  collect(finished: FinishedRequest): Data | null
  /** Values to search by: { license: "Louvre" }. */
  labels?(data: Data): Record<string, string>
}

export interface FinishedRequest {
  /** Null if the request failed before Fastify made its own (a malformed URL). */
  request: FastifyRequest | null
  reply: FastifyReply | null
  /** Holds what a panel has recorded during the request, as an Attachment. */
  recorder: Recorder
  /** The profile so far, without `panels`. */
  profile: Profile
}

export type AnyPanel = BuiltInPanel<unknown> | Panel<unknown>
