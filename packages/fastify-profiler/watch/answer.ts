import { errorMonitor } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { BodyReplacement, isBody, type AnswerEditing } from './body-replacement.ts'
import { SentAnswer } from './sent-answer.ts'
import { setMethod } from './set-method.ts'

export interface AnswerObserver extends AnswerEditing {
  /** Calls a function whose errors must not reach the response. */
  guard(call: () => void): void
  /** Called with an error that ends the response after its head was sent, when no error handler runs any more. */
  failed(error: unknown): void
}

/**
 * Watches one raw response, and replaces its body if that is sent in one piece. Streams are never held back. Node's
 * response is watched rather than Fastify's hooks, because every response passes here, hijacked ones and those to
 * malformed URLs included, and because compression and ETags are done by then.
 */
export function watchAnswer(response: ServerResponse, observer: AnswerObserver): SentAnswer {
  const { writeHead, write, end, flushHeaders, destroy } = response
  const answer = new SentAnswer(response)
  const replacement = new BodyReplacement(response, observer)
  let ending = false

  const watched = {
    writeHead(status: number, ...rest: unknown[]): unknown {
      // Node throws for these now, where the caller can catch it.
      const isStatus = status >= 100 && status <= 999
      if (!isStatus || replacement.isHeadKnown) return Reflect.apply(writeHead, response, [status, ...rest])
      response.statusCode = status
      observer.guard(() => answer.tell(status))
      const others = takeHeaders(response, rest)
      const args = [status, ...(others ?? rest)]
      replacement.announce()
      const mayWait = others !== null && !ending && !answer.streamed
      if (!mayWait || !replacement.hold(args)) return Reflect.apply(writeHead, response, args)
      // Waits only for a body that is sent in the same tick.
      process.nextTick(() => observer.guard(() => replacement.release()))
      return response
    },

    write(...args: unknown[]): unknown {
      if (!ending) {
        answer.streamed = true
        replacement.release()
        answer.count(args[0])
      }
      return Reflect.apply(write, response, args)
    },

    end(...args: unknown[]): unknown {
      ending = true
      if (!replacement.isHeadKnown) observer.guard(() => answer.tell(response.statusCode))
      observer.guard(() => {
        if (!replacement.isHeadKnown && !answer.streamed && isBody(args[0])) {
          replacement.announce()
          replacement.hold([response.statusCode])
        }
        replacement.replaceIn(args)
      })
      replacement.release()
      answer.count(args[0])
      return Reflect.apply(end, response, args)
    },

    flushHeaders(): void {
      answer.streamed = true
      if (!replacement.isHeadKnown) observer.guard(() => answer.tell(response.statusCode))
      replacement.release()
      Reflect.apply(flushHeaders, response, [])
    },

    destroy(error?: Error): unknown {
      observer.guard(() => {
        if (answer.breakOff() && error !== undefined && response.headersSent) observer.failed(error)
      })
      return Reflect.apply(destroy, response, [error])
    },
  }
  for (const [name, method] of Object.entries(watched)) setMethod(response, name, method)
  watchPipe(response, answer, observer)
  return answer
}

/** Watches for a stream that fails after the head was sent. */
function watchPipe(response: ServerResponse, answer: SentAnswer, observer: AnswerObserver): void {
  response.once('pipe', source => {
    // The errorMonitor event does not count as handling the error.
    observer.guard(() => {
      source.once(errorMonitor, error => {
        if (response.headersSent && !answer.isOver) observer.failed(error)
      })
    })
  })
}

/**
 * Sets the headers passed to writeHead, so that they can be read.
 * @returns the arguments without them; null for headers in a form that Node must handle
 */
function takeHeaders(response: ServerResponse, args: unknown[]): unknown[] | null {
  const headers = args.at(-1)
  if (typeof headers === 'string') return args
  if (headers !== undefined && !isHeaders(headers)) return null
  for (const [name, value] of Object.entries(headers ?? {})) {
    // Left for Node, which throws for it.
    if (value !== undefined) response.setHeader(name, value)
  }
  return args.slice(0, -1)
}

function isHeaders(value: unknown): value is OutgoingHttpHeaders {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
