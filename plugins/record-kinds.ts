import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { kinds } from '../src/records/kinds.ts'
import type { RecordKind } from '../src/records/record-kind.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** All kinds of records, for the routes and the documentation of the API. */
    recordKinds: readonly RecordKind[]
  }
}

interface RecordKindsOptions {
  /** What an application adds. */
  own: readonly RecordKind[]
}

/** Adds app.recordKinds. */
async function recordKinds(app: FastifyInstance, { own }: RecordKindsOptions) {
  app.decorate('recordKinds', [...kinds, ...own])
}

export default fp(recordKinds, { name: 'record-kinds', fastify: '5.x' })
