import { errorMonitor } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** What was sent of a response. */
export interface Answer {
  /** The status that was sent; null if none was, or if the client had left before. */
  status: number | null
  /** Bytes of body sent so far. */
  bytes: number
  /** True if the body was sent in more than one chunk. */
  streamed: boolean
  /** True if the server destroyed the response before its end. */
  brokenOff: boolean
}

export interface AnswerObserver {
  /** Calls a function whose errors must not reach the response. */
  guard(call: () => void): void
  /** Called with an error that ends the response after its head was sent, when no error handler runs any more. */
  failed(error: unknown): void
  /** Called once, before the head is written. Headers can be added until then. */
  beforeHead(response: ServerResponse): void
  /** Returns a function that replaces the complete body, or null. Called after `beforeHead`. */
  replacement(response: ServerResponse): Replace | null
}

/** Returns the body to send instead, or null for no change. It may set headers but not the status. */
export type Replace = (body: Buffer) => Buffer | null

/**
 * Watches one raw response, and replaces its body if that is sent in one piece. Streams are never held back. Node's
 * response is watched rather than Fastify's hooks, because every response passes here, hijacked ones and those to
 * malformed URLs included, and because compression and ETags are done by then.
 */
export function watchAnswer(response: ServerResponse, observer: AnswerObserver): Answer {
  const { writeHead, write, end, flushHeaders, destroy } = response
  const answer: Answer = { status: null, bytes: 0, streamed: false, brokenOff: false }
  let announced = false
  let ending = false
  /** The arguments of a writeHead that is delayed until the body is known, and the function that replaces the body. */
  let held: { args: unknown[]; replace: Replace } | null = null

  function announce(): void {
    if (announced) return
    announced = true
    observer.beforeHead(response)
  }

  function release(): void {
    if (held === null) return
    const { args } = held
    held = null
    Reflect.apply(writeHead, response, args)
  }

  /** Whether the client has left. */
  function isOver(): boolean {
    // Some adapters make requests without a socket.
    return response.destroyed || response.req?.socket?.destroyed
  }

  /** Records the status that is sent. A pipelined response has no socket until the one before it has ended. */
  function tell(status: number): void {
    observer.guard(() => {
      if (response.socket === null) response.once('socket', () => tell(status))
      else if (!isOver()) answer.status = status
    })
  }

  function count(chunk: unknown): void {
    if (typeof chunk === 'string') answer.bytes += Buffer.byteLength(chunk)
    else if (ArrayBuffer.isView(chunk)) answer.bytes += chunk.byteLength
  }

  /** Replaces the body in the arguments of `end` by the observer's, if it has one. */
  function replaceBody(args: unknown[]): void {
    if (!response.headersSent && held === null && !answer.streamed && isBody(args[0])) {
      announce()
      const replace = observer.replacement(response)
      if (replace !== null) held = { args: [response.statusCode], replace }
    }
    if (held === null || !isBody(args[0])) return
    const body = held.replace(bodyOf(args[0], args[1]))
    if (body !== null) {
      response.setHeader('content-length', body.byteLength)
      args[0] = body
      if (typeof args[1] === 'string') args[1] = undefined
    } else if (!response.hasHeader('content-length')) {
      response.setHeader('content-length', bodyOf(args[0], args[1]).byteLength)
    }
  }

  Object.assign(response, {
    writeHead(status: number, ...rest: unknown[]): unknown {
      // Node throws for these now, where the caller can catch it.
      const isStatus = status >= 100 && status <= 999
      if (!isStatus || held !== null || response.headersSent) {
        return Reflect.apply(writeHead, response, [status, ...rest])
      }
      response.statusCode = status
      tell(status)
      const headers = rest.at(-1)
      const merged = takeHeaders(response, headers)
      announce()
      const args = [status, ...(merged ? rest.slice(0, -1) : rest)]
      const replace = merged && !ending && !answer.streamed ? observer.replacement(response) : null
      if (replace === null) return Reflect.apply(writeHead, response, args)
      held = { args, replace }
      // Waits only for a body that is sent in the same tick.
      process.nextTick(() => observer.guard(release))
      return response
    },

    write(...args: unknown[]): unknown {
      if (!ending) {
        answer.streamed = true
        release()
        count(args[0])
      }
      return Reflect.apply(write, response, args)
    },

    end(...args: unknown[]): unknown {
      ending = true
      if (!response.headersSent && held === null) tell(response.statusCode)
      observer.guard(() => replaceBody(args))
      release()
      count(args[0])
      return Reflect.apply(end, response, args)
    },

    flushHeaders(): void {
      answer.streamed = true
      if (!response.headersSent && held === null) tell(response.statusCode)
      release()
      Reflect.apply(flushHeaders, response, [])
    },

    // Node does not call this when the client leaves. light-my-request does, after it has destroyed the request.
    destroy(error?: Error): unknown {
      observer.guard(() => {
        const { req } = response
        if (isOver() || response.writableEnded || (req.destroyed && !req.readableEnded)) return
        answer.brokenOff = true
        if (error !== undefined && response.headersSent) observer.failed(error)
      })
      return Reflect.apply(destroy, response, [error])
    },
  })
  response.once('pipe', source => {
    // The errorMonitor event does not count as handling the error.
    observer.guard(() => {
      source.once(errorMonitor, error => {
        if (response.headersSent && !isOver()) observer.failed(error)
      })
    })
  })
  return answer
}

/** Sets the headers passed to writeHead, so that they can be read. @returns false for forms that Node must handle */
function takeHeaders(response: ServerResponse, headers: unknown): boolean {
  if (headers === undefined || typeof headers === 'string') return true
  if (!isHeaders(headers)) return false
  for (const [name, value] of Object.entries(headers)) {
    // Left for Node, which throws for it.
    if (value !== undefined) response.setHeader(name, value)
  }
  return true
}

function isHeaders(value: unknown): value is OutgoingHttpHeaders {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isBody(chunk: unknown): chunk is string | Uint8Array {
  return typeof chunk === 'string' || chunk instanceof Uint8Array
}

function bodyOf(chunk: string | Uint8Array, encoding: unknown): Buffer {
  if (typeof chunk !== 'string') return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8')
}
