import { createInterface } from 'node:readline'
import { answerMessage } from '../mcp/answer-message.ts'
import type { Asker } from './asker.ts'
import type { Terminal } from './terminal.ts'

/** Answers the messages of an agent, one a line, until the input ends. */
export async function serveStdio(asker: Asker, { errors, input, output }: Terminal): Promise<number> {
  const answering = {
    ask: (...asked: Parameters<Asker['ask']>) => asker.ask(...asked),
    complain: (error: unknown) => errors.write(`fastify-profiler: ${String(error)}\n`),
  }
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.trim() === '') continue
    const { message } = await answerMessage(line, null, answering)
    if (message !== null) output.write(`${JSON.stringify(message)}\n`)
  }
  return 0
}
