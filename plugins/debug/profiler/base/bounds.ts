/** What one profile may hold. What is over is counted in `profile.dropped`, never silently lost. */
export interface ProfileBounds {
  spans: number
  logs: number
  exceptions: number
  /** Frames of one exception. */
  frames: number
  /** Characters of one string. */
  text: number
  /** Characters of all strings together, before they are cut: looking for secrets in them takes time. */
  texts: number
  /** Values of one structure (a body, the fields of a log line, a panel's data). */
  values: number
  /** Nesting of one structure. */
  depth: number
  /** Bytes of one stored profile. */
  bytes: number
}

export const defaultProfileBounds: ProfileBounds = {
  spans: 2000,
  logs: 1000,
  exceptions: 20,
  frames: 50,
  text: 4000,
  texts: 2_000_000,
  values: 2000,
  depth: 8,
  bytes: 1_048_576,
}

/** What the store may hold in all. */
export interface StoreBounds {
  profiles: number
  bytes: number
  /** Milliseconds. */
  age: number
}

export const defaultStoreBounds: StoreBounds = {
  profiles: 10_000,
  // Half of it are ten thousand of Portico's, of some 9 kB each: those with many queries are larger.
  bytes: 256 * 1_048_576,
  age: 7 * 24 * 60 * 60 * 1000,
}
