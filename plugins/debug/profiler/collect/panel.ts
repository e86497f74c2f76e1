import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Configuration, Profile } from '../base/profile.ts'
import type { Recorder } from '../watch/recorder.ts'
import type { Markup } from '../base/html.ts'

/** The few colours that mean something. */
export type Tone = 'neutral' | 'good' | 'warning' | 'error'

/** Beside the panel's label in the menu: a count, usually. */
export interface Badge {
  text: string
  tone: Tone
}

/** One entry of the toolbar; it links to the panel. */
export interface ToolbarItem {
  label: string
  value: string
  tone: Tone
}

/** What a view may need besides its data. */
export interface ViewContext {
  profile: Profile
  configuration: Configuration | null
  /** Where the profiler answers, without a slash at the end: "/_profiler". */
  base: string
  /** "vscode://file/{file}:{line}:{column}", or null: no links. */
  editorUrl: string | null
  /** The application's folder, to shorten paths; absolute, without a slash at the end. */
  root: string
}

/** What a panel shows of its data. A panel whose data is null is greyed and has no body. */
export interface PanelView<Data> {
  /** As it stands in ?panel=: letters, digits, - and _. */
  name: string
  label: string
  badge?(data: Data): Badge | null
  toolbarItem?(data: Data, context: ViewContext): ToolbarItem | null
  body(data: Data, context: ViewContext): Markup
  /** The same for a reader of Markdown; without it the data stands there as JSON. */
  markdown?(data: Data, context: ViewContext): string
}

/** A panel of the profiler's own: it reads what every profile carries. */
export interface BuiltInPanel<Data> extends PanelView<Data> {
  read(profile: Profile): Data | null
}

/**
 * A panel of the application's. `collect` runs once a request, after the client has its answer; what it
 * returns is masked, bounded and stored as JSON, and handed to the other functions when viewed. Where a
 * page carries the toolbar it runs once more before, with what is known by then.
 */
export interface Panel<Data> extends PanelView<Data> {
  collect(finished: FinishedRequest): Data | null
  /** Values a search finds by name: { license: "Louvre" }. */
  labels?(data: Data): Record<string, string>
}

export interface FinishedRequest {
  /** Null where the request failed before Fastify made one (a malformed URL). */
  request: FastifyRequest | null
  reply: FastifyReply | null
  /** Key of what a panel recorded on the way, in a WeakMap of its own. */
  recorder: Recorder
  /** All that was recorded so far, except `panels`. */
  profile: Profile
}

/** Either kind, its data's type known to itself only. */
export type AnyPanel = BuiltInPanel<unknown> | Panel<unknown>
