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

/**
 * Remembers what a function finds in a text, since the same few come again and again. Of long ones, which do so rarely,
 * the last is remembered, since one may be asked about several times. With too many, all are forgotten.
 */
export function remember<Found extends object | string | null>(
  find: (text: string) => Found,
  { most = 500, longest = 10_000 } = {},
): (text: string) => Found {
  const known = new Map<string, Found>()
  let long: readonly [text: string, found: Found] | null = null
  return text => {
    const remembered = long?.[0] === text ? long[1] : known.get(text)
    if (remembered !== undefined) return remembered
    if (text.length > longest) {
      long = [text, find(text)]
      return long[1]
    }
    // A piece of a long text would keep all of it in memory.
    const copy = text.split('').join('')
    const found = find(copy)
    if (known.size >= most) known.clear()
    known.set(copy, found)
    return found
  }
}
