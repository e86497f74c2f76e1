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
  /** The path of the profiler's pages. Default: "/_profiler". */
  base?: string
  /** The folder for profiles. Default: ".profiler" in the working directory. */
  directory?: string
  /** The limits of the whole store. */
  storeBounds?: Partial<StoreBounds>
  /** The limits of one profile. */
  profileBounds?: Partial<ProfileBounds>
  /** IP addresses and networks that may see the profiler, besides the machine itself. */
  allow?: readonly string[]
  /**
   * Whether a host name belongs to the application. Local names and IP addresses always do. If it returns a promise,
   * responses under that name show nothing of the profiler, but its own pages work.
   */
  isTrustedHost?: (host: string) => boolean | Promise<boolean>
  /** The application's own panels. */
  panels?: ReadonlyArray<Panel<unknown>>
  /** The labels that those panels set, for the search form. */
  labels?: readonly string[]
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

/** Applies the defaults and checks the options; throws if one is invalid. */
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
  throw new Error(`The profiler's "base" must be a path such as "/_profiler", not "${base}".`)
}

function checkedBounds(bounds: StoreBounds): StoreBounds {
  for (const [name, value] of Object.entries(bounds)) {
    if (!(value >= 1)) {
      throw new Error(`The profiler's "storeBounds.${name}" must be at least 1, not ${String(value)}.`)
    }
  }
  return bounds
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
