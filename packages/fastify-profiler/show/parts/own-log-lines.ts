import type { LogLine } from '../../base/profile.ts'

/** The lines that Fastify logs about every request, with the field that tells them from the application's. */
const frameworkLines: Record<string, string> = {
  'incoming request': 'req',
  'request completed': 'res',
}

/** Separates the lines of the application from those that Fastify logs about every request. */
export function splitLogs(logs: readonly LogLine[]): { own: LogLine[]; framework: LogLine[] } {
  const isFramework = ({ level, message, fields }: LogLine) => {
    const field = Object.hasOwn(frameworkLines, message) ? frameworkLines[message] : undefined
    return field !== undefined && level === 30 && Object.hasOwn(fields, field)
  }
  return { own: logs.filter(line => !isFramework(line)), framework: logs.filter(isFramework) }
}

/** A line without the id that all lines of a request share. */
export function withoutRequestId(line: LogLine, requestId: string | null): LogLine {
  const { reqId, ...fields } = line.fields
  return reqId !== undefined && reqId === requestId ? { ...line, fields } : line
}
