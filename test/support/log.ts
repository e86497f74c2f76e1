import { loggerOptions } from '../../src/logging.ts'

/** A log whose lines are kept. */
export function keepLog(level = 'info') {
  const lines: string[] = []
  const write = (line: string) => lines.push(line)
  return {
    logger: { ...loggerOptions(level, false), stream: { write } },
    text: () => lines.join(''),
    records: () => lines.map(line => JSON.parse(line)),
  }
}
