import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from './answer.ts'
import type { Received } from './received.ts'
import type { Recorder } from './recorder.ts'
import type { Upgrade } from './upgrade.ts'

/** One request as the profiler holds it between its arrival and its profile. */
export interface Exchange {
  recorder: Recorder
  raw: IncomingMessage
  response: ServerResponse
  answer: Answer
  /** Null for a request without a body. */
  received: Received | null
  /** Null for a request that asks for no other protocol. */
  upgrade: Upgrade | null
  /** Null until Fastify has made them, and for ever where it does not (a malformed URL). */
  request: FastifyRequest | null
  reply: FastifyReply | null
  hijacked: boolean
  /** True once all of the answer has been handed over. */
  finished: boolean
  /** Its index among the open exchanges; null for one that is not open. */
  place: number | null
  /** Set at the end of the answer; resolves when the profile is stored, or waits for work that outlives the answer. */
  due: Promise<void> | null
  /** Set at the end of the answer; resolves when the profile is stored. */
  stored: Promise<void> | null
}
