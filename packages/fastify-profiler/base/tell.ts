const told = new Set<string>()

/** Writes a sentence to stderr, once in a process. The application's log stays as it is. */
export function tell(sentence: string): void {
  if (told.has(sentence)) return
  told.add(sentence)
  process.stderr.write(`fastify-profiler: ${sentence}\n`)
}

/** Writes to stderr that the profiler has failed. */
export function complain(error: unknown, message: string): void {
  tell(error instanceof Error ? `${message}: ${error.message}` : message)
}
