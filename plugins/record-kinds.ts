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

/** Adds app.recordKinds: Portico's, and what an application adds. */
async function recordKinds(app: FastifyInstance, { own }: { own: readonly RecordKind[] }) {
  app.decorate('recordKinds', [...kinds, ...own])
}

export default fp(recordKinds, { name: 'record-kinds', fastify: '5.x' })
