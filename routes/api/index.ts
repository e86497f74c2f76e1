import type { FastifyInstance, FastifySchema } from 'fastify'
import { auditOf } from '../../src/records/audit.ts'
import { fromText, invalid, type Keywords, keywordsOf, validator } from '../../src/records/validation.ts'
import type {} from '../../plugins/record-kinds.ts'
import documentation from './documentation.ts'
import recordRoutes from './record-routes.ts'

/** /api: the records as JSON. */
export default async function api(app: FastifyInstance) {
  app.addHook('onRoute', function acceptTokens(route) {
    route.config = { ...route.config, token: 'accepted' }
  })
  // Registered before the routes, because it collects them in an onRoute hook.
  await app.register(documentation)

  app.removeContentTypeParser('text/plain')
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/merge-patch+json', { parseAs: 'string' }, parseJson)

  app.setValidatorCompiler<FastifySchema>(({ schema, httpPart }) => {
    const validate = validator(schema)
    const judge = (value: unknown) => {
      const errors = validate(value)
      return errors.length === 0 ? { value } : { error: invalid(errors) }
    }
    const { properties = {} } = keywordsOf(schema)
    return httpPart === 'querystring' ? (query: Query) => judge(valuesOf(query, properties)) : judge
  })
  app.setSerializerCompiler(() => record => JSON.stringify(record))

  for (const kind of [...app.recordKinds, auditOf(app.recordKinds)]) {
    await app.register(recordRoutes, { kind, prefix: `/${kind.plural.replaceAll(' ', '-')}` })
  }
}

type Query = Readonly<Record<string, unknown>>

/** The values of a query, whose parameters arrive as text, or as lists of text if they are repeated. */
export function valuesOf(query: Query, properties: NonNullable<Keywords['properties']>): Query {
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => [
      name,
      typeof text === 'string' ? fromText(properties[name], text) : text,
    ]),
  )
}
