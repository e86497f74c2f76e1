/** Features that can be deleted with their folder, their line in the list, and the entry that is theirs alone. */
export const optionalFeatures: Record<string, string | null> = {
  agents: null,
  boot: null,
  browser: null,
  budgets: 'testing.ts',
  'command-line': 'fastify-profiler.ts',
  compare: null,
  explain: null,
  export: null,
  'http-client': null,
  replay: null,
  samples: null,
  toolbar: null,
}
