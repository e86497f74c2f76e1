import { connect, type Socket } from 'node:net'

/**
 * A kept connection to a server, on which one request follows another. As little work as can be: a client that is
 * slower than the servers would have them wait for it, some more and some less, which is measured with them.
 */
export class Connection {
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

  /** @returns the answer, each byte of it a character */
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

/** Without a length nothing is waited for: that would be another answer than all others. */
function bodyLength(answer: string): number {
  return Number(/^content-length: (\d+)/im.exec(answer)?.[1] ?? Infinity)
}

/** The bytes of a request. */
export function requestText(path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}
