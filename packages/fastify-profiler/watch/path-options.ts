import type { FastifyInstance } from 'fastify'
import type { Config, HTTPVersion } from 'find-my-way'

const defaultLongestParameter = 100

/** The defaults of Fastify's router for reading paths. */
const pathDefaults: Record<string, unknown> = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  allowUnsafeRegex: false,
  useSemicolonDelimiter: false,
  maxParamLength: defaultLongestParameter,
}

/**
 * The application's router options for reading paths. Fastify takes them from two places, and fills in its defaults in
 * both. Functions are left out: they must not be called with paths that no client requested.
 */
export function pathOptions({ initialConfig }: Pick<FastifyInstance, 'initialConfig'>): Config<HTTPVersion.V1> {
  const told: Record<string, unknown>[] = [initialConfig.routerOptions ?? {}, initialConfig]
  return Object.fromEntries(
    Object.entries(pathDefaults).map(([name, byDefault]) => {
      const values = told.map(options => options[name]).filter(value => value !== undefined && value !== byDefault)
      return [name, values[0] ?? byDefault]
    }),
  )
}

/** Characters of a path parameter that the application's router takes. */
export function longestParameter({ maxParamLength = defaultLongestParameter }: Config<HTTPVersion.V1>): number {
  return maxParamLength
}
