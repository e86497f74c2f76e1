import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { defaultProfileBounds, defaultStoreBounds, type ProfileBounds, type StoreBounds } from './core/bounds.ts'
import { type ExplainPool, features } from './core/feature.ts'
import { attempt, isRecord, propertyOf } from './core/foreign-value.ts'
import { tell } from './core/guard.ts'
import { environmentSecrets, knownSecrets } from './core/mask/known-secrets.ts'
import type { AnyPanel, Panel } from './core/panel.ts'
import type { Json } from './core/profile.ts'
import { ProfileStore } from './core/store/profile-store.ts'
import { isNetwork, ViewerAccess } from './core/view/viewer-access.ts'
import './features/index.ts'

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
   * Files and folders that only pass queries or requests on, such as a module that wraps the database: absolute, or
   * relative to the working directory. Their own callers are shown instead.
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

class InvalidOption extends Error {
  override readonly name = 'InvalidOption'
  /** The rest of the sentence that begins with the option's name. */
  readonly requirement: string

  constructor(option: string, requirement: string) {
    super(`The profiler's "${option}" ${requirement}`)
    this.requirement = requirement
  }
}

/** Reads the value of an option, which may be text. Throws InvalidOption if it is invalid. */
type Read<Value = unknown> = (value: unknown, option: string) => Value

function invalid(option: string, takes: string, value: unknown): InvalidOption {
  return new InvalidOption(option, `${takes}, not ${typeof value === 'number' ? value : JSON.stringify(value)}.`)
}

function text(takes = 'must be text', isValid = (text: string) => text !== ''): Read<string> {
  return (value, option) => {
    if (typeof value === 'string' && isValid(value)) return value
    throw invalid(option, takes, value)
  }
}

const textOrNone = text('must be text', () => true)

/** A list is separated by commas in the environment. */
const list: Read<string[]> = (value, option) => {
  const items: unknown[] = typeof value === 'string' ? value.trim().split(/\s*,\s*/) : [value].flat()
  return items.map(item => textOrNone(item, option)).filter(item => item !== '')
}

const addresses: Read = (value, option) => {
  const allow = list(value, option)
  for (const entry of allow) if (!isNetwork(entry)) throw invalid(option, 'takes IP addresses and networks', entry)
  return allow
}

const yesOrNo: Read = (value, option) => {
  if (/^(?:true|false)$/.test(String(value))) return String(value) === 'true'
  throw invalid(option, 'must be true or false', value)
}

function number(takes: string, least: number, most = Infinity): Read {
  return (value, option) => {
    const result = typeof value === 'string' ? Number(value) : value
    if (typeof result !== 'number' || (typeof value === 'string' && !Number.isFinite(result))) {
      throw invalid(option, 'must be a number', value)
    }
    if (result >= least && result <= most) return result
    throw invalid(option, takes, result)
  }
}

function bounds(option: string, defaults: object): Record<string, Read> {
  return Object.fromEntries(Object.keys(defaults).map(name => [`${option}.${name}`, number('must be at least 1', 1)]))
}

function isOrigin(url: string): boolean {
  return attempt(() => new URL(url).origin, null) === url
}

/** The longest delay of Node's timers. */
const longestPatience = 2 ** 31 - 1

/** What each option takes that can be written as text: in the environment, in package.json, in the code. */
const readers: Record<string, Read> = {
  base: text('must be a path such as "/_profiler"', base => /^\/[\w./-]*\w$/.test(base)),
  directory: text(),
  editorUrl: text('must be a pattern such as "vscode://file/{file}:{line}"', url => /^$|\{file\}/.test(url)),
  linkOrigin: text('must be an origin such as "https://example.org"', url => url === '' || isOrigin(url)),
  root: text(),
  allow: addresses,
  trustedHosts: list,
  propagateTo: list,
  passThrough: list,
  secrets: list,
  allowLoopback: yesOrNo,
  patience: number(`must be from 0 to ${longestPatience} milliseconds`, 0, longestPatience),
  ...bounds('storeBounds', defaultStoreBounds),
  ...bounds('profileBounds', defaultProfileBounds),
}

/** Reads an option into others. Throws InvalidOption if it is invalid. */
function read(options: ProfilerOptions, option: string, value: unknown): void {
  const [name = '', bound] = option.split('.')
  const result = readers[option]?.(value, option)
  const inner: unknown = Reflect.get(options, name)
  Reflect.set(options, name, bound === undefined ? result : { ...(isRecord(inner) && inner), [bound]: result })
}

/** Checks options. Throws InvalidOption for the first that is invalid. */
function checked(given: ProfilerOptions): ProfilerOptions {
  const options = { ...given }
  for (const option of Object.keys(readers)) {
    const value = option.split('.').reduce<unknown>(propertyOf, given)
    if (value !== undefined && value !== null) read(options, option, value)
  }
  return options
}

const prefix = 'FASTIFY_PROFILER_'

/** Options by their environment variables: FASTIFY_PROFILER_STORE_BOUNDS_BYTES is "storeBounds.bytes". */
const optionOf = new Map(
  Object.keys(readers).map(option => {
    const words = option.replace(/[A-Z]/g, letter => `_${letter}`).replace('.', '_')
    return [prefix + words.toUpperCase(), option]
  }),
)

/**
 * Reads the options from FASTIFY_PROFILER_* and from the key "fastify-profiler" of the nearest package.json. The
 * environment wins. Throws an error that names the variable if one is invalid.
 */
export function environmentOptions(environment: Record<string, string | undefined>, folder: string): ProfilerOptions {
  const variables = Object.entries(environment)
    .filter(([name, value]) => name.startsWith(prefix) && value !== '')
    .map(([name, value]) => ({ option: optionOf.get(name) ?? name, name, value }))
  const options: ProfilerOptions = {}
  for (const { option, name, value } of [...packageSettings(folder), ...variables]) {
    if (!Object.hasOwn(readers, option)) {
      throw new Error(`${name} is not an option. The options are ${[...optionOf.keys()].join(', ')}.`)
    }
    named(name, () => read(options, option, value))
  }
  return options
}

/** Makes a call. If it throws, the error begins with a name. */
function named<Result>(name: string, call: () => Result): Result {
  try {
    return call()
  } catch (error) {
    const why = error instanceof InvalidOption ? error.requirement : `cannot be read: ${String(error)}`
    throw new Error(`${name} ${why}`)
  }
}

/** The options in package.json, each with its place for messages. */
function packageSettings(folder: string): Array<{ option: string; name: string; value: unknown }> {
  const file = join(folder, 'package.json')
  // existsSync() throws under Node's permission model.
  const isThere = attempt(() => existsSync(file), null)
  if (isThere === null) tell(`${file} may not be read, so that options in it do not apply.`)
  if (!isThere) return dirname(folder) === folder ? [] : packageSettings(dirname(folder))
  const content = named(file, (): unknown => JSON.parse(readFileSync(file, 'utf8')))
  const given = propertyOf(content, 'fastify-profiler') ?? {}
  if (!isRecord(given)) {
    throw new Error(`"fastify-profiler" in ${file} must be an object, not ${JSON.stringify(given)}.`)
  }
  const members = Object.entries(given).flatMap(([name, value]) =>
    isRecord(value)
      ? Object.entries(value).map(([inner, value]) => [`${name}.${inner}`, value] as const)
      : [[name, value] as const],
  )
  return members.map(([option, value]) => ({ option, name: `"${option}" under "fastify-profiler" in ${file}`, value }))
}

/** Applies the defaults and checks the options; throws InvalidOption if one is invalid. */
export function partsOf(app: FastifyInstance, given: ProfilerOptions, { advise, complain, shared }: Terms) {
  const options = checked(given)
  const ownPanels = options.panels ?? []
  const store = shared ?? storeOf(options, complain)
  return {
    app,
    base: options.base ?? '/_profiler',
    bounds: { ...defaultProfileBounds, ...options.profileBounds },
    /** All panels, in the order of the menu. */
    panels: checkedPanels(panelsWith(ownPanels)),
    ownPanels,
    labels: options.labels ?? [],
    complain,
    /** Tells about a route's wasteful calls; null if nobody wants to know. */
    advise: advise ?? null,
    store,
    /** Called at the end, when nothing more will be stored. */
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
    versions: { fastify: app.version, ...options.versions },
    patience: options.patience ?? 1000,
    toError: options.toError,
  }
}

export type ProfilerParts = ReturnType<typeof partsOf>

/** The panels of the features and of an application, in the order of the menu. */
export function panelsWith(ownPanels: ReadonlyArray<Panel<unknown>>): AnyPanel[] {
  const panels = features.flatMap(({ panel }) => panel ?? [])
  return [...panels.slice(0, -1), ...ownPanels, ...panels.slice(-1)]
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
  return new ViewerAccess(
    allowLoopback ? ['127.0.0.0/8', '::1', ...allow] : allow,
    host => trustedHosts.includes(host) || isTrustedHost(host),
  )
}

export function storeOf({ directory, storeBounds }: ProfilerOptions, complain: Terms['complain']): ProfileStore {
  return new ProfileStore({
    directory: directory ?? join(process.cwd(), '.profiler'),
    bounds: { ...defaultStoreBounds, ...storeBounds },
    complain,
    completions: features.flatMap(({ complete }) => complete ?? []),
  })
}
