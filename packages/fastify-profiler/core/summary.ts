import type { Location, Profile, StatementTotals } from './profile.ts'

/** What a moment of a request was spent on. `several`: operations of different kinds ran at once. */
export type TimeKind =
  | 'sql'
  | 'http'
  | 'cache'
  | 'other'
  | 'several'
  | 'before'
  | 'plugin'
  | 'hook'
  | 'handler'
  | 'reading'
  | 'serialization'
  | 'sending'
  | 'waiting'
  | 'blocked'
  | 'unaccounted'

/** Something that is wrong with a route, as one request has shown. */
export interface Trouble {
  what:
    | 'crash'
    | 'fails'
    | 'failed query'
    | 'failed call'
    | 'uncaught'
    | 'repeated'
    | 'row'
    | 'waited'
    | 'open'
    | 'blocked'
    | 'slow'
    | 'misses'
    | 'twice'
  claim: string
  /** The error, or what to do. */
  detail: string
  location: Location | null
  /** Milliseconds, if only its time makes it one. A busy machine may have made that of one request. */
  time?: number
  /** Whether it is one only if each of several requests for its URL has it. Missing if not. */
  isEach?: true
}

/** What a summary has of its profile as it is. */
type Head =
  | 'token'
  | 'parent'
  | 'isReplay'
  | 'time'
  | 'duration'
  | 'status'
  | 'outcome'
  | 'method'
  | 'url'
  | 'host'
  | 'ip'
  | 'labels'

/** A statement without its values, and shortened. */
export interface ListedStatement extends StatementTotals {
  /** Characters before it was shortened. Missing if it is whole. */
  length?: number
}

/** A row of the search results. */
export interface ProfileSummary extends Pick<Profile, Head> {
  /** The pattern of the matched route. */
  route: string | null
  exception: string | null
  /** The application's line that the exception came from, as file:line:column. Missing if unknown. */
  thrownAt?: string | undefined
  logErrors: number
  /** The number of queries, and their total time in milliseconds. */
  queries: { count: number; duration: number }
  /** The statements that took most time. */
  statements: ListedStatement[]
  /** How often one line ran one statement with different parameters; 0 if that was rare. */
  repeated: number
  /** Whether that statement changed rows. Missing if not. */
  repeatedWrites?: true
  /** The queries and calls that failed, the errors that nobody caught, and the first error. Missing if none did. */
  failures?: { queries: number; calls: number; errors?: number; first: string }
  /** Missing if there are none. */
  troubles?: readonly Trouble[]
  /** Whether troubles were not looked for, as under load. Missing if not. */
  isUnexamined?: true
  /** Milliseconds by what they were spent on, longest first. Together they are the duration. */
  times: Array<[kind: TimeKind, time: number]>
  /** Bytes of the response's body; null if unknown. */
  size: number | null
}

/** The fields of the search form, named as in the query string. */
export interface SearchCriteria {
  token?: string
  method?: string
  /** "404", "4xx", ">=400". */
  status?: string
  url?: string
  route?: string
  host?: string
  ip?: string
  /** A substring of "Class: message". */
  exception?: string
  /** A number of queries: "3", ">10". */
  sql?: string
  /** A substring of one of the statements that took most time. */
  statement?: string
  failed?: Failed
  /** Words, each a substring of the URL, the route, the exception, a label or the token. */
  text?: string
  /** The token of the request that made it with `inject`, or that it repeats. */
  parent?: string
  /** Milliseconds, inclusive. */
  durationFrom?: number
  durationTo?: number
  /** Milliseconds since 1970. */
  timeFrom?: number
  timeTo?: number
  /** A label: { license: "Louvre" }. */
  labels?: Record<string, string>
  /** Newest first by default; else the largest or the oldest first. */
  sort?: SortOrder
  page?: number
  perPage?: number
}

export const failedKinds = ['query', 'call'] as const

type Failed = (typeof failedKinds)[number]

export const sortOrders = ['duration', 'sql', 'sqlTime', 'size', 'oldest'] as const

export type SortOrder = (typeof sortOrders)[number]

export interface SearchResult {
  criteria: SearchCriteria
  /** Sentences about criteria that make no sense and were ignored. */
  problems: string[]
  profiles: ProfileSummary[]
  /** By token: how many equal requests at regular intervals a row stands for. */
  polls?: Record<string, number>
  /** The number of matches on all pages. */
  total: number
  page: number
  pages: number
}
