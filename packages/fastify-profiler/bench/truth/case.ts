import type { FastifyReply, RouteShorthandOptions } from 'fastify'
import type { Stores } from './stores.ts'

/** How the profiler names each kind of problem, in a claim about one request or one route. */
export const kinds = {
  repeats: /N\\?\+1|one at a time/,
  'equal queries': /(?:queries with the same parameters|equal queries)/,
  'slow query': /select \S+: [\d.]+ m?s, \d+\s?% of the request/,
  'failed query': /quer(?:y|ies) failed|failed quer(?:y|ies)/,
  'failed call': /(?:call|request)s?(?: to \S+)? failed|failed (?:call|request)s?|\(\d+ failed\)/,
  'after the response': /after the response|still ran when the response/,
  crash: /The process crashed at/,
  'caught 5xx': /exception.*(?:caught|seen)/i,
  'waits in a row': /one after another/,
  'blocked loop': /blocked/,
  'busy pool': /connections?:? .*(?:busy|in use)/,
  'cache misses': /\bmiss(?:es|ed)?\b/,
  'open transaction': /transaction of query \d+ was open/,
  'hook twice': /registered twice/,
} satisfies Record<string, RegExp>

export type Kind = keyof typeof kinds

/** A route with a planted problem, or a healthy one. */
export interface Case {
  /** What it does, as a path. */
  name: string
  /** The problem that is planted; null for a healthy route. */
  expects: Kind | null
  /** The comment at the end of the line that the answer has to name. */
  at?: string
  /** Requests that are sent at the same time, as under load. Default: 1. */
  atOnce?: number
  /** Its hooks. */
  options?: RouteShorthandOptions
  /** Whether the process ends some time after the response. It is started again. */
  isFatal?: true
  run: (stores: Stores, reply: FastifyReply) => unknown
}

/** Makes a case with a problem for each function, by its name. */
export function planted(expects: Kind, runs: Record<string, Case['run']>): Case[] {
  return Object.entries(runs).map(([name, run]) => ({ name, expects, run }))
}

/** Makes a healthy case for each function, by its name. */
export function healthy(runs: Record<string, Case['run']>): Case[] {
  return Object.entries(runs).map(([name, run]) => ({ name, expects: null, run }))
}
