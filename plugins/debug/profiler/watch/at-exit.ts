const calls = new Set<() => void>()

process.on('exit', () => {
  for (const call of calls) call()
})

/**
 * Has this called when the process exits, also by an uncaught error. One listener for all: applications may be many.
 * @returns what takes it back
 */
export function atExit(call: () => void): () => void {
  calls.add(call)
  return () => {
    calls.delete(call)
  }
}
