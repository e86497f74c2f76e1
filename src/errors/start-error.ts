import { inspect } from 'node:util'

/** A mistake of whoever starts the server: its message is the one line they are shown, without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';

  /** What console.error shows. */
  [inspect.custom](): string {
    return `portico: ${this.message}`
  }
}

/** What went wrong, in one line. A connection that failed at each of a host's addresses has an AggregateError, whose message is empty. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  const reason = error instanceof Error ? error.message : String(error)
  return reason.trim().replace(/\s*[\r\n]\s*/g, ' ')
}
