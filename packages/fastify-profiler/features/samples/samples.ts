import type { Frame, Location } from '../../core/profile.ts'

declare module '../../core/profile.ts' {
  interface Profile {
    /** What it spent its time or memory on. Missing if it was not to be sampled. */
    samples?: Samples | NotSampled
  }
}

// What sampling a request has shown. Amounts are milliseconds on the CPU, or bytes that were allocated.
const sampleKinds = ['cpu', 'allocations'] as const

export type SampleKind = (typeof sampleKinds)[number]

/** A request that was to be sampled, and was not. */
export interface NotSampled {
  kind: SampleKind
  /** The reason, as a sentence. */
  why: string
}

/** The summary of the samples of a request. The samples themselves are stored apart. */
export interface Samples {
  kind: SampleKind
  /** Milliseconds for which the request was sampled. */
  duration: number
  /** The median of the microseconds between two samples, or the average bytes between two. */
  interval: number
  /** The sum of all functions. */
  total: number
  /** By how many bytes the process's memory outside the heap has grown meanwhile, such as that of buffers. */
  external?: number
  /** The functions with the largest amounts of their own, largest first. */
  hot: FunctionUse[]
  /** The application's functions, each with what it called in libraries and Node, largest first. */
  charged: FunctionUse[]
  /** The requests that ran meanwhile, whose samples are among these. */
  others: OtherRequests
  /** Why the samples themselves are not stored, as a sentence; null if they are. */
  unstored: string | null
}

export interface FunctionUse {
  /** Empty if it has no name. */
  function: string
  kind: Frame['kind']
  /** Its line with most samples, or else its first line; null for what is in no file, such as garbage collection. */
  location: Location | null
  /** The function that has called it, for one of Node, V8 or generated code. Missing if it is not known. */
  caller?: { function: string; location: Location }
  amount: number
  /** The text of the line. Read from disk when viewed, never stored. */
  source?: string
}

export interface OtherRequests {
  count: number
  /** The tokens of the first. */
  tokens: string[]
}

export function isSampleKind(value: unknown): value is SampleKind {
  return sampleKinds.some(kind => kind === value)
}
