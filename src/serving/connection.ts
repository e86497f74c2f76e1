import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { maxHeld, maxUnderWay } from './limits.ts'
import { answerParserError } from './parser-errors.ts'

/** The requests that all connections of a server hold. */
export interface Backlog {
  size: number
  /** Is called when there are too many. */
  overflow: () => void
}

/** What is under way on one connection: never more than a limit, and nothing of it is lost when the connection is to end. */
export class Connection {
  readonly #socket: Socket
  readonly #backlog: Backlog
  /** In their order, each until it is out and its request is read. */
  readonly #answers: ServerResponse[] = []
  /** What begins the last of their requests: those that came in one read with others, and are too many. */
  readonly #held: Array<() => void> = []
  #turn: NodeJS.Immediate | undefined
  /** How many bytes had been read when the last answer was out: what is more is the beginning of a request. */
  #bytesAtRest = 0
  /** How many bytes the client had read when it was looked at last. */
  #bytesTaken = NaN
  #isRefused = false
  /** Whether a refusal waits for the answers before it. */
  #isWaiting = false
  #isPaused = false
  #isEnding = false

  constructor(socket: Socket, backlog: Backlog) {
    this.#socket = socket
    this.#backlog = backlog
    socket.once('close', () => {
      this.#backlog.size -= this.#held.splice(0).length
      clearImmediate(this.#turn)
      abandon(this.#answers.splice(0))
    })
    // Node goes on reading with the end of each request.
    socket.on('resume', () => {
      if (!this.#mayRead) this.#stopReading()
    })
  }

  /** How many answers there are that are not out yet. */
  get underWay(): number {
    return this.#answers.length
  }

  /** Whether what was added last has to be held: there is too much before it, or the client does not read that. */
  get isOverfull(): boolean {
    return this.#held.length > 0 || this.underWay > maxUnderWay || (this.underWay > 1 && this.#isUnread)
  }

  get #isUnread(): boolean {
    return this.#socket.writableLength > this.#socket.writableHighWaterMark
  }

  /** Begins a request once it is one of no more than may be under way. Where all connections hold too many, this one is ended. */
  hold(begin: () => void): void {
    if (this.#backlog.size >= maxHeld) {
      this.#socket.destroy()
      this.#backlog.overflow()
      return
    }
    this.#backlog.size++
    this.#held.push(begin)
  }

  /** Follows a request's answer from its beginning. */
  add(answer: ServerResponse): void {
    this.#settle()
    const before = this.#answers.at(-1)
    // Only the last one may say that the connection ends: after one that does, Node sends no other.
    if (before?.headersSent === false) before.removeHeader('connection')
    this.#answers.push(answer)
    answer.on('close', this.#settle)
    if (this.underWay >= maxUnderWay) this.#socket.pause()
  }

  /** Reads nothing until it is told to go on. */
  pause(): void {
    this.#isPaused = true
    this.#stopReading()
  }

  goOn(): void {
    this.#isPaused = false
    if (this.#mayRead) this.#socket.resume()
  }

  /** Answers bytes that are no request, once what came before them is answered. */
  refuse(error: Error): void {
    if (this.#isRefused) return
    this.#isRefused = true
    this.#tell(error)
  }

  /** Has it end with the answers that are under way, or with that to the next request. */
  end(): void {
    this.#settle()
    this.#isEnding = true
    const last = this.#answers.at(-1)
    if (last?.headersSent === false) last.setHeader('connection', 'close')
  }

  /** Ends it unless a request is under way, or has begun. */
  endIdle(): void {
    if (this.underWay === 0 && this.#socket.bytesRead === this.#bytesAtRest) this.#socket.destroySoon()
  }

  /** Ends it unless a whole request is under way, and the client reads what it is answered: called from time to time. */
  giveUp(): void {
    const { bytesWritten, writableLength } = this.#socket
    const isUnread = writableLength > 0 && bytesWritten - writableLength === this.#bytesTaken
    this.#bytesTaken = bytesWritten - writableLength
    if (isUnread || !this.#answers.some(answer => answer.req.complete && !answer.writableFinished)) {
      this.#socket.destroy()
    }
  }

  /** Drops what is over. */
  readonly #settle = (): void => {
    const { underWay } = this
    while (isOver(this.#answers[0])) this.#answers.shift()
    const [first] = this.#answers
    // In a turn of its own: others have theirs between.
    if (this.#held.length > 0) {
      this.#turn ??= setImmediate(() => {
        this.#beginHeld()
      })
    }
    if (underWay >= maxUnderWay && this.underWay < maxUnderWay) this.#socket.resume()
    if (underWay > 0 && first === undefined) this.#rest()
  }

  #beginHeld(): void {
    this.#turn = undefined
    while (this.#held.length > 0 && this.underWay - this.#held.length < maxUnderWay && !this.#isUnread) {
      this.#backlog.size--
      this.#held.shift()?.()
    }
  }

  #rest(): void {
    this.#bytesAtRest = this.#socket.bytesRead
    if (this.#isEnding) this.#socket.destroySoon()
  }

  get #mayRead(): boolean {
    return !this.#isPaused && !this.#isWaiting && this.underWay < maxUnderWay
  }

  #stopReading(): void {
    // Pausing what is paused would not tell Node.
    this.#socket.pause().emit('pause')
  }

  #tell(error: Error): void {
    this.#settle()
    const last = this.#answers.at(-1)
    const before = last?.req.complete === false ? this.#answers.at(-2) : last
    if (before !== undefined) {
      // Bytes that trickle in meanwhile would keep the connection from being silent.
      this.#isWaiting = true
      this.#stopReading()
      before.once('finish', () => {
        this.#isWaiting = false
        this.#socket.resume()
        this.#tell(error)
      })
      // A request has one answer.
    } else if (last?.headersSent === true) this.#socket.destroy()
    else answerParserError(error, this.#socket)
  }
}

function isOver(answer: ServerResponse | undefined): boolean {
  return answer !== undefined && answer.writableFinished && answer.req.complete
}

/** Node tells only the answer whose turn it is that the client has left: those behind it would keep open what they are made of, or will be. */
function abandon(answers: readonly ServerResponse[]): void {
  for (const answer of answers) {
    if (answer.socket !== null || answer.writableFinished) continue
    answer.destroy().emit('close')
    answer.on('pipe', source => {
      source.destroy()
    })
  }
}
