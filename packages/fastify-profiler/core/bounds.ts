/** The limits of one profile. Everything over a limit is counted in `profile.dropped`. */
export interface ProfileBounds {
  spans: number
  logs: number
  exceptions: number
  /** Stack frames per exception. */
  frames: number
  /** Characters per string. */
  text: number
  /** Characters of all strings together, before they are cut. Searching them for secrets takes time. */
  texts: number
  /** Values per structure (a body, the fields of a log line, a panel's data). */
  values: number
  /** Levels of nesting per structure. */
  depth: number
  /** Bytes per stored profile. */
  bytes: number
  /** Bytes of the samples that are stored with it. */
  samples: number
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
  samples: 4 * 1_048_576,
}

/** The limits of the whole store. */
export interface StoreBounds {
  profiles: number
  bytes: number
  /** Milliseconds. */
  age: number
}

export const defaultStoreBounds: StoreBounds = {
  profiles: 10_000,
  // Ten thousand average profiles of 9 kB take a third of this. Those with many queries are larger.
  bytes: 256 * 1_048_576,
  age: 7 * 24 * 60 * 60 * 1000,
}
