import type { Answer } from './measurable.ts'

const ofNode = new Set(['date', 'connection', 'keep-alive', 'content-length'])

/** Removes the value of the Date header, which differs between any two answers. */
export function withoutDate(answer: string): string {
  return answer.replace(/^date: .*$/im, 'date:')
}

/** Parses a captured answer, so that another server can send the same bytes. */
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

/** Sorts header lines and lower-cases their names, which differ between frameworks. */
export function inNoOrder(captured: string): string {
  const [head = '', ...bodies] = captured.split('\r\n\r\n')
  const [start, ...lines] = head.split('\r\n')
  const names = lines.map(line => line.replace(/^[^:]*/, name => name.toLowerCase()))
  return [[start, ...names.sort()].join('\r\n'), ...bodies].join('\r\n\r\n')
}
