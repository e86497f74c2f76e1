import type { ServerResponse } from 'node:http'

/** What was sent of a response. */
export class SentAnswer {
  /** The status that was sent; null if none was, or if the client had left before. */
  status: number | null = null
  /** Bytes of body sent so far. */
  bytes = 0
  /** True if the body was sent in more than one chunk. */
  streamed = false
  /** True if the server destroyed the response before its end. */
  brokenOff = false
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** Whether the client has left. */
  get isOver(): boolean {
    const { destroyed, req } = this.#response
    // Some adapters make requests without a socket.
    return destroyed || req?.socket?.destroyed
  }

  /** Records the status that is sent. A pipelined response has no socket until the one before it has ended. */
  tell(status: number): void {
    if (this.#response.socket === null) this.#response.once('socket', () => this.tell(status))
    else if (!this.isOver) this.status = status
  }

  /** Records a chunk of the body. */
  count(chunk: unknown): void {
    if (typeof chunk === 'string') this.bytes += Buffer.byteLength(chunk)
    else if (ArrayBuffer.isView(chunk)) this.bytes += chunk.byteLength
  }

  /** Records that the server destroys the response. @returns false if it had ended, or the client had left */
  breakOff(): boolean {
    const { req, writableEnded } = this.#response
    // Node does not call destroy when the client leaves. light-my-request does, after it has destroyed the request.
    if (this.isOver || writableEnded || (req.destroyed && !req.readableEnded)) return false
    this.brokenOff = true
    return true
  }
}
