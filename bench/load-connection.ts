import { connect, type Socket } from 'node:net'

/**
 * A keep-alive connection that sends one request after another. It does as little work as possible, because servers
 * would wait for a slow client, which would distort the measurement.
 */
export class LoadConnection {
  readonly #socket: Socket
  #text = ''
  #answered: ((answer: string) => void) | null = null
  #failed: (error: Error) => void = () => {}

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    this.#socket.on('data', (text: string) => this.#read(text))
    this.#socket.on('error', error => this.#failed(error))
    this.#socket.on('close', () => this.#failed(closed()))
  }

  /** @returns the answer as latin1 text, one character per byte */
  ask(request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(closed())
      this.#answered = resolve
      this.#failed = reject
      this.#socket.write(request, 'latin1')
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(text: string): void {
    this.#text = this.#text === '' ? text : this.#text + text
    const end = this.#text.indexOf('\r\n\r\n')
    if (end === -1 || this.#text.length < end + 4 + bodyLength(this.#text)) return
    const answer = this.#text
    this.#text = ''
    this.#answered?.(answer)
  }
}

function closed(): Error {
  return new Error('The server closed the connection.')
}

/** The Content-Length, or infinity without one, so that the answer never completes: all servers have to send it. */
function bodyLength(answer: string): number {
  return Number(/^content-length: (\d+)/im.exec(answer)?.[1] ?? Infinity)
}

/** The text of a GET request. */
export function requestText(path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}
