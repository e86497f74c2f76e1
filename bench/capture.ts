import type { Answer } from './server.ts'

const ofNode = new Set(['date', 'connection', 'keep-alive', 'content-length'])

/** The bytes of an answer, of Date, which no two share, only the name. */
export function withoutDate(answer: string): string {
  return answer.replace(/^date: .*$/im, 'date:')
}

/** What a server has to say to answer with the same bytes. */
export function answerIn(captured: string): Answer {
  const [head = '', body = ''] = captured.split('\r\n\r\n')
  const [start = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line): [string, string] => [line.replace(/:.*/s, ''), line.replace(/^[^:]*:\s*/, '')])
  return {
    status: Number(start.split(' ')[1]),
    headers: headers.filter(([name]) => !ofNode.has(name.toLowerCase())),
    body: Buffer.from(body, 'latin1').toString(),
  }
}

/** The same bytes but for the order of the header lines, and the case of their names: frameworks have their own of both. */
export function inNoOrder(captured: string): string {
  const [head = '', ...bodies] = captured.split('\r\n\r\n')
  const [start, ...lines] = head.split('\r\n')
  const names = lines.map(line => line.replace(/^[^:]*/, name => name.toLowerCase()))
  return [[start, ...names.sort()].join('\r\n'), ...bodies].join('\r\n\r\n')
}
