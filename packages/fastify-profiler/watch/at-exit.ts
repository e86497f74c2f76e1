const calls = new Set<() => void>()

process.on('exit', () => {
  for (const call of calls) call()
})

/**
 * Calls a function when the process exits, also after an uncaught error. All applications share one listener.
 * @returns a function that unregisters the callback
 */
export function atExit(call: () => void): () => void {
  calls.add(call)
  return () => {
    calls.delete(call)
  }
}
