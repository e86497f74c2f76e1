/** A library whose calls are watched. One of these a file. */
export interface Driver {
  /** The packages that `patch` is called for. */
  packages?: readonly string[]
  /**
   * Patches what a module exports, as soon as it is loaded, once for each copy. The exports may be those of any version
   * of the package or of one of its inner modules: patch only what is there.
   */
  patch?(exports: unknown): void
  /**
   * The ES modules with the package's classes, from its CommonJS file. Only for packages that contain themselves twice,
   * as CommonJS and as ES modules, since nothing tells when an ES module is loaded.
   */
  moduleFiles?(commonJsFile: string): readonly string[]
  /** Subscribes to diagnostics channels. Called once. */
  subscribe?(): void
}
