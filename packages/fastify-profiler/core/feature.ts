import type { Readable, Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { ProfileBounds } from './bounds.ts'
import type { Boundary } from './guard.ts'
import type { KnownSecrets } from './mask/known-secrets.ts'
import type { AnyPanel, ViewContext } from './panel.ts'
import type { Mask } from './mask/mask.ts'
import type { RequestSecrets } from './mask/request-secrets.ts'
import type { RequestTime } from './intervals.ts'
import type { Exception, LogLine, Profile, Query, Unseen } from './profile.ts'
import type { ProfileArchive } from './store/profile-archive.ts'
import type { Neighbours, ProfileStore } from './store/profile-store.ts'
import type { StoreDirectory } from './store/store-directory.ts'
import type { ProfileSummary, SearchCriteria } from './summary.ts'
import type { Fact, Inline } from './view/block.ts'
import type { Content } from './view/html.ts'
import type { ApplicationStart } from './watch/application-start.ts'
import type { Replace } from './watch/answer.ts'
import type { Exchange } from './watch/exchange.ts'
import type { EnteredRequest } from './watch/exchanges.ts'
import type { KnownRoutes } from './watch/known-routes.ts'
import type { Recorder } from './watch/recorder.ts'
import type { Recorders } from './watch/current-recorder.ts'

/** What explaining needs of a pool; a `pg.Pool` has it. */
export interface ExplainPool {
  connect: () => Promise<ExplainClient>
  /** Whether it has a database of a system to connect to. Default: true. */
  knows?: (system: string) => boolean
  /** Whether the database can stop a statement that takes too long. If not, no query is run again. Default: true. */
  canStop?: () => boolean
}

export interface ExplainClient {
  query: (query: ExplainQuery) => Promise<{ rows: unknown[] }>
  /** Gives the connection back, or destroys it. */
  release: (destroy?: boolean) => void
}

export interface ExplainQuery {
  text: string
  values?: unknown[]
  /** The extended protocol refuses several statements in one text. */
  queryMode?: 'extended'
}

/** A profiled application, for its features and the profiler's pages. */
export interface PageSources {
  app: FastifyInstance
  archive: ProfileArchive
  store: ProfileStore
  bounds: ProfileBounds
  secrets: KnownSecrets | null
  boundary: Boundary
  recorders: Recorders
  /** Sentences that every profile starts with. */
  notes: Set<string>
  /** What no profile shows. Each has a note, too. */
  unseen: Unseen[]
  start: ApplicationStart
  versions: Record<string, string>
  /** Tells about a route's wasteful calls; null if nobody wants to know. */
  advise: ((sentence: string) => void) | null
  viewContext: (profile: Profile) => ViewContext
  base: string
  /** Null if the application has none. */
  explainPool: ExplainPool | null
  editorUrl: string | null
  /** The application's folder. */
  root: string
  /** The panels of the features, and the application's own. */
  panels: readonly AnyPanel[]
  /** Labels to search by. */
  labels: readonly string[]
}

/** The stored requests with the same exception. */
export interface Sightings {
  count: number
  /** The time of the first, in milliseconds since 1970. */
  since: number
  /** The search that finds them. */
  criteria: SearchCriteria
}

/** The requests that a profile leads to. */
export interface RelatedProfiles extends Neighbours {
  /** The requests that it made with `inject`, and those that repeated it. */
  caused: readonly ProfileSummary[]
  /** The token of the previous request of the same route; null if none is stored. */
  previousOfRoute: string | null
  sightings: Sightings | null
}

/** What a feature offers to do with a profile: a link or a form with a button. */
export type ProfileAction = (profile: Profile, base: string, related: RelatedProfiles) => Content

/** What answers to questions are made from. */
export type AskedSources = Pick<
  PageSources,
  'archive' | 'base' | 'explainPool' | 'labels' | 'panels' | 'root' | 'store' | 'viewContext'
> & {
  /** The running application; null if answers come from its files. */
  app: FastifyInstance | null
}

/** A parameter, as JSON Schema describes it. */
export interface Parameter {
  type: 'string' | 'integer' | 'boolean'
  description: string
  minimum?: number
  maximum?: number
  enum?: readonly string[]
}

/** The arguments of a question, checked. */
export interface Arguments {
  text: (name: string) => string | null
  number: (name: string) => number | null
  /** Tokens that the answer may have. */
  tokens: number
  /** The arguments as they were given. */
  given: Record<string, unknown>
}

export interface Answer {
  /** Markdown within the limit of tokens. */
  text: string
  /** The same for programs. */
  data: unknown
  /** Whether the question could not be answered. */
  failed?: boolean
}

/** How a command is typed, for the command line and its help. */
interface Typed {
  /** Its operands: "<token> [panel]" if the second may be missing. */
  takes: string
  /** How many operands it needs at least, and takes at most. Default: as `takes` says. */
  count?: readonly [number, number]
  says: string
}

/** Something that agents and the command line can ask about stored requests. Changes nothing, unless it says so. */
export interface Question {
  name: string
  /** It has the application do something, as a button of a page does. */
  acts?: boolean
  title: string
  /** When to ask it, in less than 60 words. */
  description: string
  parameters: Record<string, Parameter>
  required: readonly string[]
  answer: (asked: Arguments, sources: AskedSources) => Promise<Answer>
  /** What the overview says of it; null for nothing. Recorded text. */
  lately?: (sources: AskedSources) => string | null
  /** What asking it would tell about a profile, with the call; null for nothing. */
  next?: (profile: Profile, sources: AskedSources) => string | null
  /** Its command. `operands` gives them the names of parameters. Default: the names in `takes`. */
  command: Typed & {
    name: string
    operands?: (operands: readonly string[]) => Record<string, string | undefined>
  }
}

/** What a command reads and writes. */
export interface Terminal {
  input: Readable
  output: Writable
  errors: Writable
  env: Record<string, string | undefined>
  /** The working directory. */
  folder: string
  /** Whether a person types and reads. */
  isInteractive: boolean
  /** Whether the output is a terminal, not a pipe or a file. */
  isScreen: boolean
  hasColors: boolean
  /** Columns of a line; Infinity if the output is a file. */
  columns: number
  /** Ends a command that would go on for ever. */
  ended: AbortSignal
}

export interface TypedCommand {
  operands: readonly string[]
  values: Readonly<Record<string, string | boolean | undefined>>
  terminal: Terminal
  /** Asks the running application, or else reads its files. */
  ask: (question: Question, given: unknown) => Promise<Answer>
}

/** A command that is more than a question. */
export interface Command<Asked = TypedCommand> extends Typed {
  /** The options that it takes besides those of every command. */
  options: readonly string[]
  /** @returns the exit code: 0, 1 if there is no answer, 2 if the command is not understood */
  run: (asked: Asked) => Promise<number>
}

/** What a request has recorded, before its profile is made or after. */
export interface CollectingRecorded {
  exchange: Pick<Exchange, 'recorder'>
  /** Through which everything recorded goes. */
  mask: Mask
  bounds: ProfileBounds
  /** The time of the request, and when the event loop was blocked meanwhile. */
  time: RequestTime
  /** Converts an error as the application's error handler does. */
  toError: ((thrown: Error) => Error) | undefined
  /** Notes that something was left out, unless its count is 0. */
  drop: (what: string, count: number, why: () => string) => void
}

/** An exchange whose profile is made. */
export interface Collecting extends CollectingRecorded {
  exchange: Exchange
  routes: KnownRoutes
  /** Stores the text of its samples beside the profile. */
  keepSamples: (text: string) => void
}

/** What a response can tell of its own request. */
export interface Diagnosis {
  panels: readonly AnyPanel[]
  /** The URL of the profile. */
  link: () => string
  /** Only the exceptions, which is quicker than the whole profile. */
  exceptions: () => Exception[]
  view: () => ViewContext
}

interface Answers {
  /** Changes the headers of any response, before they are sent. */
  head?: (exchange: Exchange) => void
  /** What replaces the body for a client that may see profiles; null for nothing. The first feature decides. */
  body: (exchange: Exchange, diagnosis: Diagnosis) => Replace | null
}

/** A file below `<base>/assets/`. */
export interface Asset {
  type: string
  body: string
  /** Hash of the body: a URL with the current version may be cached forever. */
  version: string
}

/** What a feature does at the moments of an application's life. */
export interface RunningFeature {
  /** The application waits for it before it is ready, though not for long. */
  prepared?: Promise<void>
  /** The application is ready. @param configuration the key of its configuration */
  ready?: (configuration: string) => void
  /** A profile was stored. */
  written?: (summary: ProfileSummary, profile: Profile) => void
  /** The application has closed, or the process exits. */
  stop?: () => void
}

/** What one feature adds to the profiler. */
export interface Feature {
  name: string
  /** Begins to work for an application, before its plugins load. */
  start?: (sources: PageSources) => RunningFeature | void
  /** Called when Fastify has found the route of a request. */
  entered?: (request: EnteredRequest) => void
  /** Subscribes to diagnostics channels, once a process. */
  subscribe?: () => void
  /** Learns the secrets in what it has recorded. */
  learn?: (recorder: Recorder, secrets: RequestSecrets) => void
  /** Its part of a profile, masked and bounded, after the response was sent. */
  collect?: (collecting: Collecting) => Partial<Profile>
  /** What to add to a stored profile: its calls, exceptions and log lines of what the request did since. */
  collectLate?: (collecting: CollectingRecorded) => Partial<Profile>
  /** Tells why a request failed. Called first: if masking runs out of its budget, the exceptions are done. */
  failures?: (collecting: CollectingRecorded) => Pick<Profile, 'exceptions' | 'lifecycle'>
  /** Changes responses. */
  answer?: Answers
  /** What arrived for a profile after its response, from a file of its own. Added whenever the profile is read. */
  complete?: (profile: Profile, directory: StoreDirectory) => Partial<Profile>
  /** Its part of a profile with what is read from disk when it is viewed, such as source code. */
  readSources?: (profile: Profile) => Partial<Profile>
  /** What lists and searches know about its part of a profile. */
  summarise?: (profile: Profile) => Partial<ProfileSummary>
  /** Shows its part of a profile. The menu has the panels in the order of the features. */
  panel?: AnyPanel
  /** Asks for plans of queries, unless the application has a pool for it. */
  explainPool?: ExplainPool
  /** The stylesheet of what it shows, by its path in the package. */
  style?: string
  /** A script for its pages, by its path in the package. It is optional: every page works without. */
  script?: string
  /** Further files for browsers, by name. */
  assets?: Record<string, Asset>
  /** Adds its pages. Clients without access do not find them. */
  routes?: (app: FastifyInstance, sources: PageSources) => void
  /** A link in the top bar of every page. The path is below the profiler's. */
  link?: { label: string; path: string }
  /** What the header of a profile says. */
  facts?: (profile: Profile) => readonly Fact[]
  /** What the header of a profile offers. */
  action?: ProfileAction
  /** Sends the request of a profile again. @returns the token of the new profile, or why there is none */
  repeat?: (app: FastifyInstance, profile: Profile) => Promise<string | Error>
  /** What can be done with two requests of a list. The path gets their tokens as `request`, the newer one first. */
  pair?: { label: string; path: string }
  /** What can be done with a query of a profile, by its number from 1. */
  forQuery?: (query: Query, number: number, context: ViewContext) => Content
  /** What leads from the plugins of an application to more about them. */
  forPlugins?: (base: string) => Inline
  /** Further lines of the log of a request, under a heading with a note. */
  lines?: { heading: string; note: string; of: (profile: Profile) => LogLine[] }
  /** Where the page that a request made reports its errors: the last part of the path, after the profile's. */
  reports?: string
  /** What agents and the command line can ask. */
  questions?: readonly Question[]
  /** Further commands of the command line, by name. */
  commands?: Record<string, Command>
}

/** All features, in the order of the menu and of the header. `features/index.ts` adds them. */
export const features: Feature[] = []
