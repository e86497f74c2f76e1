import { errorMonitor } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** What is sent, as far as it is known. */
export interface Answer {
  /** That of the head when it was sent: what is set later is for nobody. Null when none was, or the client had left. */
  status: number | null
  /** Bytes of body sent so far. */
  bytes: number
  /** True when the body came in more than one piece. */
  streamed: boolean
  /** True when it was the server that did not bring it to its end. */
  brokenOff: boolean
}

export interface AnswerObserver {
  /** Calls what must not fail the answer whatever it meets. */
  guard(call: () => void): void
  /** Called with what broke it off once its head was out, when no error handler is told any more. */
  failed(error: unknown): void
  /** Called once, before the head is written: the last moment to add headers. */
  beforeHead(response: ServerResponse): void
  /** What is to be done to this answer's body once it is known whole, if anything. Called after `beforeHead`. */
  replacement(response: ServerResponse): Replace | null
}

/** The body to send instead, or null to leave it; may change headers, never the status. */
export type Replace = (body: Buffer) => Buffer | null

/**
 * Watches one raw response, and lets its body be replaced if it is sent whole. This is below Fastify and all
 * its hooks on purpose: it sees every answer, a hijacked one and that to a malformed URL too, after compression
 * and ETags have been decided; and a streamed body is never held back.
 */
export function watchAnswer(response: ServerResponse, observer: AnswerObserver): Answer {
  const { writeHead, write, end, flushHeaders, destroy } = response
  const answer: Answer = { status: null, bytes: 0, streamed: false, brokenOff: false }
  let announced = false
  let ending = false
  /** The arguments of a writeHead that waits for the body that follows at once, and what is to be done to that. */
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

  /** Whether nobody is there any more to be answered. */
  function isOver(): boolean {
    // Adapters make requests that have no socket.
    return response.destroyed || response.req?.socket?.destroyed
  }

  /** The head is on its way, or will be: an answer that waits behind another one has no socket yet. */
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

  /** Puts the observer's body among the arguments of `end`, if it has one. */
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
      // What Node refuses it refuses at once, so that whoever calls can catch it.
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
      // Only for a body that is sent together with its head; anybody else goes on unhindered.
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

    // Node does not call this when the client leaves; who injects does, and takes the request away before.
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
    // It only watches: an error that nobody listens for stays one.
    observer.guard(() => {
      source.once(errorMonitor, error => {
        if (response.headersSent && !isOver()) observer.failed(error)
      })
    })
  })
  return answer
}

/** Sets what writeHead was given, as Node does, so that the headers can be read; false for forms left to Node. */
function takeHeaders(response: ServerResponse, headers: unknown): boolean {
  if (headers === undefined || typeof headers === 'string') return true
  if (!isHeaders(headers)) return false
  for (const [name, value] of Object.entries(headers)) {
    // An undefined value is Node's to complain about.
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
