import { closeSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { FastifyInstance } from 'fastify'
import { grace } from './limits.ts'

/** How often to check that the parent still runs, in milliseconds. */
const parentCheckInterval = 1000

/** The standard streams that were a terminal when the process started. */
const terminals = [0, 1, 2].filter(isatty)

interface EndOptions {
  /** The id of a process whose end also ends this one. Default: none. */
  parent?: number | undefined
  /** Milliseconds after which the process ends even if requests are still being handled. */
  longest?: number
}

/**
 * Closes the app, then ends the process: on SIGTERM, SIGINT and SIGHUP, on an uncaught error, and when the parent is
 * gone. Fault signals such as SIGSEGV keep their default action, because a handler would return to the fault.
 * @returns a function that ends the process in the same way
 */
export function endInOrder(
  app: Pick<FastifyInstance, 'close' | 'log'>,
  { parent, longest = grace }: EndOptions = {},
): () => void {
  let isClosing = false

  // Ctrl-C arrives twice, from the terminal and from npm, so the second must not force an exit.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, end)
  process.on('uncaughtException', fail)
  process.on('exit', leaveClosedTerminals)
  // The forking process is gone.
  process.on('disconnect', end)
  if (parent !== undefined) {
    setInterval(() => {
      if (process.ppid !== parent) end()
    }, parentCheckInterval).unref()
  }
  return end

  function end(): void {
    if (isClosing) return
    isClosing = true
    setTimeout(() => {
      app.log.error(`Requests were still being handled after ${longest} ms.`)
      process.exit(1)
    }, longest)
    app
      .close()
      .catch(fail)
      .finally(() => process.exit())
  }

  function fail(error: unknown): void {
    process.exitCode = 1
    // The log itself may have failed, for example on a closed terminal.
    if (isClosing) console.error(error)
    else app.log.fatal(error)
    end()
  }
}

/** At exit Node restores the mode of its terminals, and aborts if one is gone. It skips closed descriptors. */
function leaveClosedTerminals(): void {
  for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor)
}
