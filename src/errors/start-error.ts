import { inspect } from 'node:util'

/** A problem that the operator can fix, such as invalid configuration. Shown as one line, without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';

  /** The text that console.error prints. */
  [inspect.custom](): string {
    return `portico: ${this.message}`
  }
}

/** The message of an error on one line. A failed connection may have an AggregateError, whose own message is empty. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  const reason = error instanceof Error ? error.message : String(error)
  return reason.trim().replace(/\s*[\r\n]\s*/g, ' ')
}
