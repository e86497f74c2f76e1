import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { etagOf } from '../../src/http/etag.ts'
import { kinds } from '../../src/records/kinds.ts'
import { script, style } from './documentation-theme.ts'

const description = `The records of Portico. This page is generated from [/api/openapi.json](/api/openapi.json).

Everybody who may enter a license's site can read its languages, museums and platforms. Everything else is for admins. Sign in at [/login](/login); the browser then sends the session cookie.

Ids are whole numbers, written as text because they may be too large for a JavaScript number. Each record has an \`ETag\`. Send it as \`If-Match\` so that you do not overwrite somebody else's change (412), or as \`If-None-Match\` so that an unchanged record is not sent again (304).

Errors are problem details (RFC 9457), or HTML or plain text if the \`Accept\` header asks for it. \`errors\` lists each invalid field.`

/** The version of the API, not of Portico. */
const version = '1'

/** Allows nothing from other origins and nothing inline, except one style attribute in Swagger UI's icons. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-hashes' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** GET /api/openapi.json, and GET /api/docs: a page to read and try the API. */
async function documentation(app: FastifyInstance) {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Portico', description, version },
      tags: kinds.map(({ plural }) => ({ name: plural })),
      components: {
        securitySchemes: {
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'portico_session',
            description: 'Set by POST /login. Over HTTPS its name is __Host-portico_session.',
          },
        },
      },
      security: [{ session: [] }],
    },
  })

  let document: string | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async function showOpenApi(_request, reply) {
    document ??= JSON.stringify(app.swagger())
    return reply.type('application/json; charset=utf-8').header('etag', etagOf(document)).send(document)
  })

  await app.register(swaggerUi, {
    routePrefix: '/docs',
    indexPrefix: app.prefix,
    staticCSP: contentSecurityPolicy,
    uiConfig: {
      docExpansion: 'list',
      defaultModelsExpandDepth: -1,
      tryItOutEnabled: true,
      displayRequestDuration: true,
    },
    theme: {
      title: 'Portico API',
      css: [{ filename: 'portico.css', content: style }],
      js: [{ filename: 'portico.js', content: script }],
    },
  })
}

export default fp(documentation, { name: 'documentation', fastify: '5.x' })
