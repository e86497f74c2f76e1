import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Profile } from '../base/profile.ts'
import type { Received } from './received.ts'
import type { Recorder } from './recorder.ts'
import type { SentAnswer } from './sent-answer.ts'
import type { Upgrade } from './upgrade.ts'

/** A request and its response, from its arrival until its profile is stored. */
export interface Exchange {
  recorder: Recorder
  raw: IncomingMessage
  response: ServerResponse
  answer: SentAnswer
  /** Null for a request without a body. */
  received: Received | null
  /** Null for a request without an Upgrade header. */
  upgrade: Upgrade | null
  /** Null until Fastify makes them. For a malformed URL it may never do so. */
  request: FastifyRequest | null
  reply: FastifyReply | null
  hijacked: boolean
  /** Whether `reply.send` has been called. */
  isReplied: boolean
  /** True once the whole response has been handed to the operating system. */
  finished: boolean
  /** Its index in the list of open exchanges; null if it is not open. */
  place: number | null
  /** Set at the end of the response. Resolves when the profile is stored, or is waiting for unfinished work. */
  due: Promise<void> | null
  /** Set at the end of the response. Resolves with the profile when it is stored; with null if that failed. */
  stored: Promise<Profile | null> | null
}
