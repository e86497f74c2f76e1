import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type {} from '../../plugins/landmarks.ts'
import type {} from '../../plugins/record-kinds.ts'
import { etagOf } from '../../src/http/etag.ts'
import { auditLines } from '../../src/records/audit.ts'
import { exampleId } from '../../src/records/fields.ts'
import documentationPage from './documentation-page.ts'

const description = `The records of Portico. This page is generated from [/api/openapi.json](/api/openapi.json).

Everybody who may enter a license's site can read its languages, museums and platforms. Everything
else is for admins. [Sign in](/login?next=%2Fapi%2Fdocs); the browser then sends the session cookie. Scripts send an API
token instead: \`Authorization: Bearer portico_…\`.

Ids are whole numbers, written as text because they may be too large for a JavaScript number. No record has the id
${exampleId} of the examples: put another in its place. Each record has an
\`ETag\`. Send it as \`If-Match\` so that you do not overwrite somebody else's change (412), or as \`If-None-Match\` so that
an unchanged record is not sent again (304).

Errors are problem details (RFC 9457), or HTML or plain text if the \`Accept\` header asks for it. \`errors\` lists each
invalid field.`

/** The version of the API, not of Portico. */
const version = '1'

/** GET /api/openapi.json, and GET /api/docs: a page to read and try the API. */
async function documentation(app: FastifyInstance) {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Portico',
        description,
        version,
        contact: { name: 'Whoever runs this site' },
        license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
      },
      servers: [{ url: '/', description: 'This site.' }],
      tags: [
        ...[...app.recordKinds, auditLines].map(({ plural, purpose }) => ({ name: plural, description: purpose })),
      ].sort((one, other) => one.name.localeCompare(other.name, 'en')),
      components: {
        securitySchemes: {
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'portico_session',
            description: 'Set by POST /login. Over HTTPS its name is __Host-portico_session.',
          },
          token: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API token, for scripts. It wins over a cookie. "portico token add" makes one.',
          },
        },
      },
      security: [{ session: [] }, { token: [] }],
    },
    transformObject: nameSchemas,
  })

  let document: ReturnType<typeof documentOf> | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async function showOpenApi(_request, reply) {
    document ??= documentOf(app)
    return reply.type('application/json; charset=utf-8').header('etag', document.etag).send(document.bytes)
  })

  await app.register(documentationPage)
  app.landmarks.set('API', { path: `${app.prefix}/docs`, needsSite: true })
}

/** Made once: hashing and encoding it takes 0.7 ms of CPU. */
function documentOf(app: FastifyInstance) {
  const text = JSON.stringify(app.swagger())
  return { bytes: Buffer.from(text), etag: etagOf(text) }
}

/** Keys whose values are data, not schemas. */
const data = new Set(['example', 'examples', 'default', 'enum'])

/** What @fastify/swagger hands over. Its type allows for Swagger 2, too. */
interface Made {
  openapiObject?: FastifyDynamicSwaggerOptions['openapi']
  swaggerObject?: unknown
}

/**
 * Moves every schema with a title from the paths of an OpenAPI document to components.schemas, and refers to it there.
 * A route names a schema by its title, and schemas with the same title have to be the same. Also says how a query
 * writes null.
 */
function nameSchemas({ openapiObject }: Made) {
  const schemas: Record<string, unknown> = {}
  const paths = named(openapiObject?.paths)
  return Object.assign({}, openapiObject, { paths, components: { ...openapiObject?.components, schemas } })

  function named(part: unknown, isWithinQuery = false): unknown {
    if (Array.isArray(part)) return part.map(item => named(item, isWithinQuery))
    if (typeof part !== 'object' || part === null) return part
    const isQuery = isWithinQuery || ('in' in part && part.in === 'query')
    // A query has text only. fromText() reads null from it.
    if (isQuery && 'type' in part && part.type === 'null') return { const: 'none' }
    const namedIn = ([key, value]: [string, unknown]) => [key, data.has(key) ? value : named(value, isQuery)] as const
    const copy: Record<string, unknown> = Object.fromEntries(Object.entries(part).map(namedIn))
    const { title } = copy
    if (typeof title !== 'string') return copy
    schemas[title] = copy
    return { $ref: `#/components/schemas/${title}` }
  }
}

export default fp(documentation, { name: 'documentation', fastify: '5.x' })
