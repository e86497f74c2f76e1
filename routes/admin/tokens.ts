import type { FastifyInstance } from 'fastify'
import { newToken, tokens } from '../../src/records/tokens.ts'
import { operationsOf } from '../api/record-routes.ts'
import listRoute from './list.ts'
import recordRoutes from './record.ts'

/** The pages of API tokens, of which one is shown when it is made. */
export default function tokenRoutes(app: FastifyInstance): void {
  listRoute(app, tokens)
  recordRoutes(app, tokens, async (request, values) => {
    const { kind, secret } = newToken()
    return { record: await operationsOf(app, kind).add(request, values), secret }
  })
}
