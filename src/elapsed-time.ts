const interval = 100

/**
 * Shows on a terminal how long something has taken so far.
 * @param output a terminal; nothing is written to anything else
 * @param what what takes long, as in "Creating the database in ./data"
 * @returns a function that ends the line
 */
export function showElapsedTime(output: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>, what: string): () => void {
  if (!output.isTTY) return () => {}
  const begun = performance.now()
  const timer = setInterval(show, interval).unref()
  show()
  return () => {
    clearInterval(timer)
    show()
    output.write('\n')
  }

  function show(): void {
    output.write(`\r${what}: ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  }
}
