import { prettyFactory } from 'pino-pretty'

interface Line {
  level: number
  msg: string
  reqId?: string
  statusCode?: number
  /** In milliseconds, for complete requests. */
  responseTime?: number
}

/** Bounds the refusals that wait for their request's line. */
const mostRefusals = 1000
const info = 30

/** Control and bidirectional characters as they are in JSON. An escaped backslash is matched only to be skipped. */
const unprintable = /\\\\|\\u00[01][\da-f]|\\[bfr]|[\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g

/**
 * A stream for pino that writes one line for each request, with its answer and with the reason if it was refused. It
 * leaves out "incoming request", and "Server listening" and "Database", because greet() says more. Nothing in a line
 * controls the terminal.
 */
export function terminalLog(output: Pick<NodeJS.WritableStream, 'write'>) {
  /** The refusals by request id, the oldest first. */
  const refusals = new Map<string, Line>()
  const render = prettyFactory({
    translateTime: 'HH:MM:ss.l',
    ignore: 'pid,hostname,reqId,res,responseTime',
    singleLine: true,
    messageFormat: '{if res.method}{res.method} {res.url} {res.statusCode} {responseTime} ms {res.host}{end}{msg}',
  })

  return {
    write(text: string): void {
      const line = parse(text)
      const { msg, reqId = '', responseTime } = line
      if (msg === 'incoming request' || /^(Server listening at|Database:) /.test(msg)) return
      if (isRefusal(line)) return keep(reqId, line)
      if (responseTime === undefined) return print(line)
      print({ ...line, responseTime: Number(responseTime.toFixed(1)) }, reasonOf(refusals.get(reqId)))
      refusals.delete(reqId)
    },
  }

  function keep(id: string, line: Line): void {
    refusals.set(id, line)
    for (const [oldest, line] of [...refusals].slice(0, -mostRefusals)) {
      refusals.delete(oldest)
      print(line)
    }
  }

  function print(line: Line, msg = line.msg): void {
    // Indented, so that no message looks like a line of its own.
    output.write(render({ ...line, msg: msg.trimEnd().replaceAll('\n', '\n    ') }))
  }
}

/** Parses a line, with a replacement character for each unprintable one. */
function parse(text: string): Line {
  const value: unknown = JSON.parse(text.replace(unprintable, match => (match === '\\\\' ? match : '\uFFFD')))
  return { msg: '', level: info, ...(value ?? {}) }
}

/** Whether logRefusal() has written a line. */
function isRefusal({ level, reqId, statusCode, responseTime }: Line): boolean {
  return level === info && reqId !== undefined && statusCode !== undefined && responseTime === undefined
}

/** The reason for a refusal as the end of its request's line, unless the request's line says the same. */
function reasonOf(refusal: Line | undefined): string {
  return refusal === undefined || refusal.msg.startsWith('No route found for "') ? '' : ` ${refusal.msg}`
}
