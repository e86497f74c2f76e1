import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import {
  defaultProfileBounds,
  defaultStoreBounds,
  InvalidOption,
  type ProfileBounds,
  type StoreBounds,
} from './core/bounds.ts'
import type { AnyPanel, Panel } from './core/panel.ts'
import { attempt } from './core/foreign-value.ts'
import { environmentSecrets, type KnownSecrets, knownSecrets } from './core/mask/known-secrets.ts'
import type { Json } from './core/profile.ts'
import { ProfileStore } from './core/store/profile-store.ts'
import { ViewerAccess } from './core/view/viewer-access.ts'
import { type ExplainPool, features } from './core/feature.ts'
import './features/index.ts'

/** The longest delay of Node's timers. */
const longestPatience = 2 ** 31 - 1

export interface ProfilerOptions {
  /** The path of the profiler's pages. Default: "/_profiler". */
  base?: string
  /** The folder for profiles. Default: ".profiler" in the working directory. */
  directory?: string
  /** The limits of the whole store. */
  storeBounds?: Partial<StoreBounds>
  /** The limits of one profile. */
  profileBounds?: Partial<ProfileBounds>
  /** IP addresses and networks that may see the profiler. */
  allow?: readonly string[]
  /** Whether the machine itself may see the profiler, too. Default: unless NODE_ENV is production. */
  allowLoopback?: boolean
  /**
   * Whether a host name belongs to the application. Local names and IP addresses always do. If it returns a promise,
   * responses under that name show nothing of the profiler, but its own pages work.
   */
  isTrustedHost?: (host: string) => boolean | Promise<boolean>
  /** Like isTrustedHost, as a list of host names. */
  trustedHosts?: readonly string[]
  /** The application's own panels. */
  panels?: ReadonlyArray<Panel<unknown>>
  /** The labels that those panels set, for the search form. */
  labels?: readonly string[]
  /**
   * Origins or hosts of the application's own services: "http://prices:3000", "prices:3000". Requests to them get a W3C
   * `traceparent`, so that their profiles become children of this one. Default: none.
   */
  propagateTo?: readonly string[]
  /**
   * Absolute paths of files and folders that only pass queries or requests on, such as a module that wraps the
   * database. Their own callers are shown instead.
   */
  passThrough?: readonly string[]
  /**
   * A pool of connections to PostgreSQL, such as a `pg.Pool`, with which the Database panel explains queries: in
   * read-only transactions that are rolled back. Default: connections with the options of the application's clients.
   */
  explainPool?: ExplainPool
  /** A URL pattern that turns file names into links: "vscode://file/{file}:{line}:{column}". */
  editorUrl?: string | null
  /** The origin of links to profiles, such as "https://example.org". Default: that of the request. */
  linkOrigin?: string | null
  /** The application's folder, which file names are shown relative to. Default: the working directory. */
  root?: string
  /** Further values to mask wherever they occur. */
  secrets?: readonly string[]
  /** Shown on the configuration panel. Values under sensitive names are masked. */
  settings?: Record<string, Json>
  versions?: Record<string, string>
  /** Milliseconds that a profile waits for queries that outlive the response. */
  patience?: number
  /** Converts an error as the application's error handler does, to show the result. Default: the error itself. */
  toError?: (thrown: Error) => Error
}

/** What the installer passes to a profiler. */
export interface Terms {
  /** Reports a failure of the profiler. */
  complain: (error: unknown, message: string) => void
  /** Tells about a route's wasteful calls. Default: nobody wants to know. */
  advise?: (sentence: string) => void
  /** Shared with other applications of the process. Default: a store of its own. */
  shared?: ProfileStore
}

/** Applies the defaults and checks the options; throws InvalidOption if one is invalid. */
export function partsOf(app: FastifyInstance, options: ProfilerOptions, terms: Terms): ProfilerParts {
  const { advise = null, complain, shared } = terms
  const ownPanels = options.panels ?? []
  checkOptions(options)
  const store = shared ?? storeOf(options, complain)
  return {
    app,
    base: options.base ?? '/_profiler',
    bounds: { ...defaultProfileBounds, ...options.profileBounds },
    panels: checkedPanels(panelsWith(ownPanels)),
    ownPanels,
    labels: options.labels ?? [],
    complain,
    advise,
    store,
    leaveStore: () => (shared === undefined ? store.close() : store.flush()),
    access: accessOf(options),
    secrets: knownSecrets([...environmentSecrets(process.env), ...(options.secrets ?? [])]),
    propagateTo: options.propagateTo ?? [],
    editorUrl: options.editorUrl ?? null,
    explainPool:
      options.explainPool ?? features.find(({ explainPool }) => explainPool !== undefined)?.explainPool ?? null,
    linkOrigin: options.linkOrigin ?? null,
    root: options.root ?? process.cwd(),
    settings: options.settings ?? {},
    versions: options.versions ?? {},
    patience: options.patience ?? 1000,
    toError: options.toError ?? (thrown => thrown),
  }
}

/** The panels of the features and of an application, in the order of the menu. */
export function panelsWith(ownPanels: ReadonlyArray<Panel<unknown>>): AnyPanel[] {
  const panels = features.flatMap(({ panel }) => panel ?? [])
  return [...panels.slice(0, -1), ...ownPanels, ...panels.slice(-1)]
}

/** Whether NODE_ENV is production. */
export function isProduction(): boolean {
  return process.env.NODE_ENV?.trim().toLowerCase() === 'production'
}

function accessOf({
  allow = [],
  // A proxy on the same machine that does not name its clients makes all of them local.
  allowLoopback = !isProduction(),
  isTrustedHost = () => false,
  trustedHosts = [],
}: ProfilerOptions): ViewerAccess {
  return new ViewerAccess({
    allow: allowLoopback ? ['127.0.0.0/8', '::1', ...allow] : allow,
    isTrustedHost: host => trustedHosts.includes(host) || isTrustedHost(host),
  })
}

/** The store that the options describe. */
export function storeOf({ directory, storeBounds }: ProfilerOptions, complain: Terms['complain']): ProfileStore {
  return new ProfileStore({
    directory: directory ?? join(process.cwd(), '.profiler'),
    bounds: { ...defaultStoreBounds, ...storeBounds },
    complain,
    completions: features.flatMap(({ complete }) => complete ?? []),
  })
}

/** Throws InvalidOption for the first option that is invalid. */
export function checkOptions(options: ProfilerOptions): void {
  const { base, editorUrl, linkOrigin, patience, profileBounds, storeBounds } = options
  if (base !== undefined && !/^\/[\w./-]*\w$/.test(base)) {
    throw new InvalidOption('base', `must be a path such as "/_profiler", not "${base}".`)
  }
  if (editorUrl && !editorUrl.includes('{file}')) {
    throw new InvalidOption('editorUrl', `must be a pattern such as "vscode://file/{file}:{line}", not "${editorUrl}".`)
  }
  if (linkOrigin && attempt(() => new URL(linkOrigin).origin, null) !== linkOrigin) {
    throw new InvalidOption('linkOrigin', `must be an origin such as "https://example.org", not "${linkOrigin}".`)
  }
  if (patience !== undefined && !(patience >= 0 && patience <= longestPatience)) {
    const limits = `from 0 to ${longestPatience} milliseconds`
    throw new InvalidOption('patience', `must be ${limits}, not ${String(patience)}.`)
  }
  accessOf(options)
  checkBounds('storeBounds', { ...storeBounds })
  checkBounds('profileBounds', { ...profileBounds })
}

function checkBounds(option: string, bounds: Record<string, number>): void {
  for (const [name, value] of Object.entries(bounds)) {
    if (!(value >= 1)) throw new InvalidOption(`${option}.${name}`, `must be at least 1, not ${String(value)}.`)
  }
}

function checkedPanels<Some extends { name: string }>(panels: readonly Some[]): readonly Some[] {
  const names = new Set<string>()
  for (const { name } of panels) {
    if (!/^[\w-]+$/.test(name)) {
      throw new Error(`A panel's name must consist of letters, digits, - and _, not "${name}".`)
    }
    if (names.has(name)) throw new Error(`There are two panels named "${name}".`)
    names.add(name)
  }
  return panels
}

/** The plugin's options with all defaults applied. */
export interface ProfilerParts {
  app: FastifyInstance
  base: string
  store: ProfileStore
  /** Called at the end, when nothing more will be stored. */
  leaveStore: () => void
  bounds: ProfileBounds
  access: ViewerAccess
  /** The application's panels. */
  ownPanels: ReadonlyArray<Panel<unknown>>
  /** All panels, in the order of the menu. */
  panels: readonly AnyPanel[]
  /** The labels that the search form offers. */
  labels: readonly string[]
  secrets: KnownSecrets | null
  /** The origins or hosts that get the headers of a trace. */
  propagateTo: readonly string[]
  editorUrl: string | null
  /** Null if queries cannot be explained. */
  explainPool: ExplainPool | null
  root: string
  /** The origin of links to profiles; null for that of the request. */
  linkOrigin: string | null
  /** Milliseconds that a profile waits for queries that outlive the response. */
  patience: number
  toError: (thrown: Error) => Error
  versions: Record<string, string>
  settings: Record<string, Json>
  complain: (error: unknown, message: string) => void
  /** Tells about a route's wasteful calls; null if nobody wants to know. */
  advise: ((sentence: string) => void) | null
}
