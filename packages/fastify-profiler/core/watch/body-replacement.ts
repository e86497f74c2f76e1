import type { ServerResponse } from 'node:http'
import { isObject, setHeader, setMethod } from '../foreign-value.ts'

/** Returns the body to send instead, or null for no change. It may set headers but not the status. */
export type Replace = (body: Buffer) => Buffer | null

export interface AnswerEditing {
  /** Called once, before the head is written. Headers can be added until then. */
  beforeHead(response: ServerResponse): void
  /** Returns a function that replaces the complete body, or null. Called after `beforeHead`. */
  replacement(response: ServerResponse): Replace | null
}

/** Replaces the body of a response that is sent in one piece; the head waits until its length is known. */
export class BodyReplacement {
  readonly #response: ServerResponse
  readonly #editing: AnswerEditing
  /** The response's own writeHead. */
  readonly #writeHead: ServerResponse['writeHead']
  #announced = false
  /** The arguments of a writeHead that is delayed, and the function that replaces the body. */
  #held: { args: unknown[]; replace: Replace } | null = null

  constructor(response: ServerResponse, editing: AnswerEditing) {
    this.#response = response
    this.#editing = editing
    this.#writeHead = response.writeHead
  }

  /** Whether the head was written or waits for the body. */
  get isHeadKnown(): boolean {
    return this.#response.headersSent || this.#held !== null
  }

  announce(): void {
    if (this.#announced) return
    this.#announced = true
    this.#editing.beforeHead(this.#response)
  }

  /** Delays writing the head if the body may be replaced. @returns whether it does */
  hold(args: unknown[]): boolean {
    const replace = this.#editing.replacement(this.#response)
    if (replace !== null) this.#held = { args, replace }
    return replace !== null
  }

  /** Writes the head if it was delayed. */
  release(): void {
    if (this.#held === null) return
    const { args } = this.#held
    this.#held = null
    Reflect.apply(this.#writeHead, this.#response, args)
  }

  /** Replaces the body in the arguments of `end`. */
  replaceIn(args: unknown[]): void {
    const response = this.#response
    const [chunk, encoding] = args
    if (this.#held === null || !isBody(chunk)) return
    const body = this.#held.replace(bodyOf(chunk, encoding))
    if (body !== null) {
      setHeader(response, 'content-length', body.byteLength)
      args[0] = body
      if (typeof encoding === 'string') args[1] = undefined
    } else if (!response.hasHeader('content-length')) {
      response.setHeader('content-length', bodyOf(chunk, encoding).byteLength)
    }
  }
}

/** Whether an argument of `end` is a body, rather than a callback or nothing. */
export function isBody(chunk: unknown): chunk is string | Uint8Array {
  return typeof chunk === 'string' || chunk instanceof Uint8Array
}

function bodyOf(chunk: string | Uint8Array, encoding: unknown): Buffer {
  if (typeof chunk !== 'string') return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8')
}

/** A web ReadableStream, which reports its failure only to its reader. */
interface WebStream {
  getReader(): { readonly closed: Promise<unknown> }
}

/**
 * Calls `failed` if the payload is a web stream, or a Response with one, and that fails.
 * @returns whether the payload is one of these
 */
export function watchWebStream(payload: object, failed: (error: unknown) => void): boolean {
  // Checked as Fastify does: mentioning the class Response makes Node load all of fetch.
  if ('body' in payload && Object.prototype.toString.call(payload) === '[object Response]') {
    return isObject(payload.body) && watchWebStream(payload.body, failed)
  }
  if (!isWebStream(payload)) return false
  const { getReader } = payload
  setMethod(payload, 'getReader', function (this: WebStream, ...args: Parameters<typeof getReader>) {
    const reader = getReader.apply(this, args)
    reader.closed.catch(failed)
    return reader
  })
  return true
}

function isWebStream(value: object): value is WebStream {
  return 'getReader' in value && typeof value.getReader === 'function'
}
