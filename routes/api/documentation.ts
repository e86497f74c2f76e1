import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { etagOf } from '../../src/http/etag.ts'
import { kinds } from '../../src/records/kinds.ts'
import { script, style } from './documentation-theme.ts'

const description = `The records of Portico: what whoever runs it keeps. This page is made of [/api/openapi.json](/api/openapi.json).

Everybody who may enter a license's site reads that license's languages, museums and platforms. All else is for admins: sign in at [/login](/login), and the session's cookie is sent along.

Ids are text: they are whole numbers that may exceed what JavaScript's hold. A record has an \`ETag\`; sent back as \`If-Match\` it keeps a change from overwriting one that came in between (412), as \`If-None-Match\` it keeps an unchanged record from being sent twice (304).

An error is a problem (RFC 9457), by the \`Accept\` header also a page or a line of text; \`errors\` names each field that is wrong.`

/** Of what is described here, not of Portico. */
const version = '1'

/** Nothing from elsewhere, and nothing inline but one style attribute of Swagger UI's own icons. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-hashes' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** GET /api/openapi.json, and GET /api/docs: a page to read it, and to try what it describes. */
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
            description: 'Set by POST /login; under https its name is __Host-portico_session.',
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
