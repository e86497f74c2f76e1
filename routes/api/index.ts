import type { FastifyInstance, FastifySchema } from 'fastify'
import { BadRequestHttpError } from '../../src/errors/http-errors.ts'
import { describeFieldErrors } from '../../src/records/field-error.ts'
import { kinds } from '../../src/records/kinds.ts'
import { queryValidator, validator } from '../../src/records/validation.ts'
import documentation from './documentation.ts'
import recordRoutes from './record-routes.ts'

/** /api: the records as JSON. */
export default async function api(app: FastifyInstance) {
  // Registered before the routes, because it collects them in an onRoute hook.
  await app.register(documentation)

  app.removeContentTypeParser('text/plain')
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/merge-patch+json', { parseAs: 'string' }, parseJson)

  app.setValidatorCompiler<FastifySchema>(({ schema, httpPart }) => {
    const validate = httpPart === 'querystring' ? queryValidator(schema) : validator(schema)
    return (value: unknown) => {
      const errors = validate(value)
      return errors.length === 0
        ? { value }
        : { error: new BadRequestHttpError(describeFieldErrors(errors), { members: { errors } }) }
    }
  })
  app.setSerializerCompiler(() => record => JSON.stringify(record))

  for (const kind of kinds) await app.register(recordRoutes, { kind, prefix: `/${kind.plural.replaceAll(' ', '-')}` })
}
