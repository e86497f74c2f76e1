import type { FastifyInstance } from 'fastify'
import type { RecordKind } from '../../src/records/record-kind.ts'
import { addRoute } from './add-route.ts'
import { changeRoute } from './change-route.ts'
import { listRoute } from './list-route.ts'
import { readRoute } from './read-route.ts'
import { removeRoute } from './remove-route.ts'

export interface RecordRoutesOptions {
  kind: RecordKind
}

/** The routes to list, read, add, change and remove one kind of record. */
export default async function recordRoutes(app: FastifyInstance, { kind }: RecordRoutesOptions) {
  listRoute(app, kind)
  readRoute(app, kind)
  addRoute(app, kind)
  changeRoute(app, kind)
  removeRoute(app, kind)
}
