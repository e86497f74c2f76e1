import { closeSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { FastifyInstance } from 'fastify'
import { grace } from './limits.ts'

/** How often it is looked whether the parent still runs, in milliseconds. */
const parentCheckInterval = 1000

/** The standard streams that were a terminal when the process started. */
const terminals = [0, 1, 2].filter(isatty)

export interface EndOptions {
  /** The id of a process that this one ends with; default: none. */
  parent?: number | undefined
  /** Milliseconds after which the process ends though requests are under way. */
  longest?: number
}

/**
 * Closes the app and then ends the process: when it is told to end, when nobody caught an error, and when its parent has
 * gone. Signals of faults (SIGSEGV and the like) keep their default, for a handler would return to the fault.
 */
export function endInOrder(
  app: Pick<FastifyInstance, 'close' | 'log'>,
  { parent, longest = grace }: EndOptions = {},
): void {
  let isClosing = false

  // A terminal's Ctrl-C comes twice, from the terminal and from npm: the second is no impatience.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, end)
  process.on('uncaughtException', fail)
  process.on('exit', leaveClosedTerminals)
  // Whoever forked it has gone.
  process.on('disconnect', end)
  if (parent !== undefined) {
    setInterval(() => {
      if (process.ppid !== parent) end()
    }, parentCheckInterval).unref()
  }

  function end(): void {
    if (isClosing) return
    isClosing = true
    setTimeout(() => {
      app.log.error(`Requests were still under way after ${longest} ms.`)
      process.exit(1)
    }, longest)
    app
      .close()
      .catch(fail)
      .finally(() => process.exit())
  }

  function fail(error: unknown): void {
    process.exitCode = 1
    // The log itself may have failed, as that of a closed terminal does.
    if (isClosing) console.error(error)
    else app.log.fatal(error)
    end()
  }
}

/** Node restores the mode of its terminals as it exits, and aborts where one has been closed: it skips closed descriptors. */
function leaveClosedTerminals(): void {
  for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor)
}
