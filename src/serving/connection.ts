import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { lingering, maxHeld, maxUnderWay } from './limits.ts'
import { type Begin, startLater } from './turns.ts'

/** The number of requests held on all connections of a server. */
export interface Backlog {
  size: number
  /** Called when there are too many. */
  overflow: () => void
}

/** Keeps the unanswered requests of one connection within limits until its responses are sent. */
export class Connection {
  readonly #socket: Socket
  readonly #backlog: Backlog
  /** In order, each until it is sent and its request is read. */
  readonly #answers: ServerResponse[] = []
  /** Start the requests that exceed the limit of this connection or of a turn. */
  readonly #held: Begin[] = []
  /** Whether the first held request waits for its turn. */
  #isQueued = false
  /** Bytes read when the last response was sent. Any more are the start of a request. */
  #bytesAtRest = 0
  /** Bytes that the client had read at the last check. */
  #bytesTaken = NaN
  /** Starts a timeout at once. */
  readonly #startTimeout: Socket['setTimeout']
  /** A timeout in milliseconds that the next check starts. 0 for none. */
  #laterTimeout = 0
  #isRefused = false
  /** Whether a refusal waits for the responses before it. */
  #isWaiting = false
  #isPaused = false
  #isEnding = false

  constructor(socket: Socket, backlog: Backlog, keepAliveTimeout: number) {
    this.#socket = socket
    this.#backlog = backlog
    this.#startTimeout = socket.setTimeout.bind(socket)
    // Node sets the keep-alive timeout after each response and 0 at the next request. Most need no timer in between.
    socket.setTimeout = (timeout, callback) => {
      const isLater = (timeout === 0 || timeout >= keepAliveTimeout) && callback === undefined && !socket.timeout
      this.#laterTimeout = isLater ? timeout : 0
      return isLater ? socket : this.#startTimeout(timeout, callback)
    }
    socket.once('close', () => {
      this.#backlog.size -= this.#held.splice(0).length
      abandon(this.#answers.splice(0))
    })
    // Node resumes reading at the end of each request.
    socket.on('resume', () => {
      if (!this.#mayRead) this.#stopReading()
    })
  }

  /** The number of unanswered requests. */
  get underWay(): number {
    return this.#answers.length
  }

  /** Whether the newest request has to be held: too many are before it, or the client does not read their responses. */
  get isOverfull(): boolean {
    return this.#held.length > 0 || this.underWay > maxUnderWay || (this.underWay > 1 && this.#isUnread)
  }

  get #isUnread(): boolean {
    return this.#socket.writableLength > this.#socket.writableHighWaterMark
  }

  /**
   * Starts a request in a later turn, once fewer than maxUnderWay precede it. Closes the connection if it holds others
   * and all connections hold maxHeld.
   */
  hold(begin: Begin): void {
    if (this.#held.length > 0 && this.#backlog.size >= maxHeld) {
      this.#socket.destroy()
      this.#backlog.overflow()
      return
    }
    this.#backlog.size++
    this.#held.push(begin)
    this.#queue()
  }

  /** Tracks the response to a new request. */
  add(answer: ServerResponse): void {
    this.#settle()
    const before = this.#answers.at(-1)
    // Only the last response may say "Connection: close". Node sends none after it.
    if (before?.headersSent === false) before.removeHeader('connection')
    this.#answers.push(answer)
    answer.on('close', this.#settle)
    if (this.underWay >= maxUnderWay) this.#socket.pause()
  }

  /** Sends a response after the others, on a socket that Node has stopped looking after. */
  takeOver(answer: ServerResponse): void {
    const destroy = () => {
      this.#socket.destroy()
    }
    this.#socket
      .on('error', destroy)
      .on('timeout', destroy)
      .on('drain', () => {
        this.#answers[0]?.emit('drain')
      })
      // Closing a connection with unread bytes would reset it, and the client could lose the response.
      .resume()
    const last = this.#answers.at(-1)
    // A response that was sent in this turn still has the socket. Assigning it twice throws.
    if (last === undefined || (last.writableFinished && last.socket === null)) answer.assignSocket(this.#socket)
    else {
      last.once('close', () => {
        if (!this.#socket.destroyed) answer.assignSocket(this.#socket)
      })
    }
  }

  /**
   * Starts the timeout that was set last, or else closes the connection after this many silent milliseconds of a
   * request. Node resets this after the response.
   */
  limitSilence(timeout: number): void {
    if (this.#socket.timeout) return
    if (this.#laterTimeout > 0) this.#startTimeout(this.#laterTimeout)
    else if (this.#answers.at(-1)?.writableFinished === false) this.#startTimeout(timeout)
  }

  /** Stops reading until resume(). */
  pause(): void {
    this.#isPaused = true
    this.#stopReading()
  }

  resume(): void {
    this.#isPaused = false
    if (this.#mayRead) this.#socket.resume()
  }

  /** Answers bytes that are not HTTP, after the responses to earlier requests. */
  refuse(error: Error): void {
    if (this.#isRefused) return
    this.#isRefused = true
    this.#sendRefusal(error)
  }

  /** Closes the connection after the pending responses, or after the next one if none is pending. */
  end(): void {
    this.#settle()
    this.#isEnding = true
    const last = this.#answers.at(-1)
    if (last?.headersSent === false) last.setHeader('connection', 'close')
  }

  /** Closes the connection unless a request is pending or partly sent. */
  endIdle(): void {
    if (this.underWay === 0 && this.#socket.bytesRead === this.#bytesAtRest) this.#socket.destroySoon()
  }

  /** Closes the connection unless a whole request is pending and the client has read on since the last call. */
  giveUp(): void {
    const { bytesWritten, writableLength } = this.#socket
    const isUnread = writableLength > 0 && bytesWritten - writableLength === this.#bytesTaken
    this.#bytesTaken = bytesWritten - writableLength
    if (isUnread || !this.#answers.some(answer => answer.req.complete && !answer.writableFinished)) {
      this.#socket.destroy()
    }
  }

  /** Removes finished responses. */
  readonly #settle = (): void => {
    const { underWay } = this
    while (isOver(this.#answers[0])) this.#answers.shift()
    const [first] = this.#answers
    this.#queue()
    if (underWay >= maxUnderWay && this.underWay < maxUnderWay) this.#socket.resume()
    if (underWay > 0 && first === undefined) this.#rest()
  }

  /** Has the first held request wait for its turn, if it may start. */
  #queue(): void {
    if (this.#isQueued || !this.#mayBegin) return
    this.#isQueued = true
    startLater(isLate => {
      this.#isQueued = false
      if (!this.#mayBegin) return
      this.#backlog.size--
      this.#held.shift()?.(isLate)
      this.#queue()
    })
  }

  /** Whether the first held request may start: few are before it, and the client has read their responses. */
  get #mayBegin(): boolean {
    return this.#held.length > 0 && this.underWay - this.#held.length < maxUnderWay && !this.#isUnread
  }

  #rest(): void {
    this.#bytesAtRest = this.#socket.bytesRead
    if (this.#isEnding) this.#socket.destroySoon()
  }

  get #mayRead(): boolean {
    return !this.#isPaused && !this.#isWaiting && this.underWay < maxUnderWay
  }

  #stopReading(): void {
    // pause() emits nothing on a paused socket, and Node would read on.
    this.#socket.pause().emit('pause')
  }

  #sendRefusal(error: Error): void {
    this.#settle()
    const last = this.#answers.at(-1)
    const before = last?.req.complete === false ? this.#answers.at(-2) : last
    if (before !== undefined) {
      // Each byte that trickles in would restart the connection's timeout.
      this.#isWaiting = true
      this.#stopReading()
      before.once('finish', () => {
        this.#isWaiting = false
        this.#socket.resume()
        this.#sendRefusal(error)
      })
      // A request has only one response.
    } else if (last?.headersSent === true) this.#socket.destroy()
    else answerParserError(error, this.#socket)
  }
}

function isOver(answer: ServerResponse | undefined): boolean {
  return answer !== undefined && answer.writableFinished && answer.req.complete
}

/** When the client leaves, Node closes only the current response. Those behind it would keep their streams open. */
function abandon(answers: readonly ServerResponse[]): void {
  for (const answer of answers) {
    if (answer.socket !== null || answer.writableFinished) continue
    answer.destroy().emit('close')
    answer.on('pipe', source => {
      source.destroy()
    })
  }
}

const refusals = new Map<unknown, { status: number; detail: string }>([
  ['HPE_HEADER_OVERFLOW', { status: 431, detail: "The request's target and headers are too large." }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, detail: 'The request did not arrive in time.' }],
])
const unreadable = { status: 400, detail: 'The request is not valid HTTP.' }

/** Answers a request that Node's HTTP parser rejected with a problem document, and closes the connection. */
function answerParserError(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { status, detail } = refusals.get(error.code) ?? unreadable
  const title = STATUS_CODES[status]
  const body = JSON.stringify({ type: 'about:blank', title, status, detail })
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\n` +
      'Content-Type: application/problem+json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  )
  // The client may never close its half of the connection.
  const impatience = setTimeout(() => {
    socket.destroy()
  }, lingering)
  socket.once('close', () => {
    clearTimeout(impatience)
  })
}
