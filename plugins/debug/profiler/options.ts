import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { defaultProfileBounds, defaultStoreBounds, type ProfileBounds, type StoreBounds } from './base/bounds.ts'
import type { Json } from './base/profile.ts'
import type { Panel } from './collect/panel.ts'
import { environmentSecrets } from './mask/environment-secrets.ts'
import { knownSecrets } from './mask/known-secrets.ts'
import type { ProfilerParts } from './profiler.ts'
import { builtInPanels } from './show/panels/built-in.ts'
import { ViewerAccess } from './show/viewer-access.ts'
import { ProfileStore } from './store/profile-store.ts'
import { loggerNote } from './watch/request-hooks.ts'

export interface ProfilerOptions {
  /** Where the pages are; "/_profiler". */
  base?: string
  /** Where profiles are stored; ".profiler" in the working directory. */
  directory?: string
  /** What the store holds in all. */
  storeBounds?: Partial<StoreBounds>
  /** What one profile holds. */
  profileBounds?: Partial<ProfileBounds>
  /** Addresses and networks that may look, besides the machine itself. */
  allow?: readonly string[]
  /**
   * Whether a host name is the application's; local names and IP addresses always are. Where it answers with a
   * promise, a response under that name shows nothing of the profiler, but the profiler's pages do.
   */
  isTrustedHost?: (host: string) => boolean | Promise<boolean>
  /** The application's own panels. */
  panels?: ReadonlyArray<Panel<unknown>>
  /** Names of the labels that those panels give profiles, for the search form. */
  labels?: readonly string[]
  /** "vscode://file/{file}:{line}:{column}": makes file names links. */
  editorUrl?: string | null
  /** "https://example.org": the origin of links to profiles; that of the request if it is missing. */
  linkOrigin?: string | null
  /** The application's folder, to shorten file names; the working directory. */
  root?: string
  /** Values that are masked wherever they turn up, besides those that names give away. */
  secrets?: readonly string[]
  /** Shown on the configuration panel, masked by their names. */
  settings?: Record<string, Json>
  versions?: Record<string, string>
  /** Milliseconds a profile waits for queries that outlive their answer. */
  patience?: number
  /** What the application's error handler makes of an error, where that is the one to show; the error itself. */
  toError?: (thrown: Error) => Error
}

/** What a profiler is made of, with a default for every option that is missing. Throws a sentence for one that is wrong. */
export function partsOf(app: FastifyInstance, options: ProfilerOptions): ProfilerParts {
  const ownPanels = options.panels ?? []
  const complain = (error: unknown, message: string) => {
    app.log.warn({ err: error }, message)
  }
  const note = loggerNote(app)
  return {
    app,
    base: checkedBase(options.base ?? '/_profiler'),
    bounds: { ...defaultProfileBounds, ...options.profileBounds },
    panels: checkedPanels([...builtInPanels.slice(0, -1), ...ownPanels, ...builtInPanels.slice(-1)]),
    ownPanels,
    labels: options.labels ?? [],
    complain,
    store: new ProfileStore({
      directory: options.directory ?? join(process.cwd(), '.profiler'),
      bounds: checkedBounds({ ...defaultStoreBounds, ...options.storeBounds }),
      complain,
    }),
    access: new ViewerAccess({ allow: options.allow ?? [], isTrustedHost: options.isTrustedHost ?? (() => false) }),
    secrets: knownSecrets([...environmentSecrets(process.env), ...(options.secrets ?? [])]),
    editorUrl: options.editorUrl ?? null,
    linkOrigin: options.linkOrigin ?? null,
    root: options.root ?? process.cwd(),
    settings: options.settings ?? {},
    versions: options.versions ?? {},
    patience: options.patience ?? 1000,
    toError: options.toError ?? (thrown => thrown),
    notes: note === null ? [] : [note],
  }
}

function checkedBase(base: string): string {
  if (/^\/[\w./-]*\w$/.test(base)) return base
  throw new Error(`The profiler's "base" is a path such as "/_profiler", not "${base}".`)
}

function checkedBounds(bounds: StoreBounds): StoreBounds {
  for (const [name, value] of Object.entries(bounds)) {
    if (!(value >= 1)) {
      throw new Error(`The profiler's "storeBounds.${name}" is a number from 1 on, not ${String(value)}.`)
    }
  }
  return bounds
}

function checkedPanels<Some extends { name: string }>(panels: readonly Some[]): readonly Some[] {
  const names = new Set<string>()
  for (const { name } of panels) {
    if (!/^[\w-]+$/.test(name)) throw new Error(`A panel's name is letters, digits, - and _, not "${name}".`)
    if (names.has(name)) throw new Error(`There are two panels named "${name}".`)
    names.add(name)
  }
  return panels
}
