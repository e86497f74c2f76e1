import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type {} from '../../plugins/landmarks.ts'
import type {} from '../../plugins/record-kinds.ts'
import { etagOf } from '../../src/http/etag.ts'
import { exampleId } from '../../src/records/fields.ts'
import { script, style } from './documentation-theme.ts'
import { nameSchemas } from './named-schemas.ts'
import { showWhoIsSignedIn } from './signed-in.ts'
import { signInPath } from './sign-in-operation.ts'

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

/** Allows nothing from other origins and nothing inline, except one style attribute in Swagger UI's icons. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; " +
  "style-src 'self' 'unsafe-hashes' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; " +
  "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

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
        ...app.recordKinds.map(({ plural, purpose }) => ({ name: plural, description: purpose })),
        { name: 'sign in', description: 'The session of a browser.' },
        { name: 'audit', description: 'Who changed what.' },
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
      paths: signInPath(),
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

/** GET /api/docs. Nothing can be sent before a click on "Try it out". */
async function documentationPage(app: FastifyInstance) {
  app.addHook('onSend', showWhoIsSignedIn)

  await app.register(swaggerUi, {
    routePrefix: '/docs',
    indexPrefix: app.prefix,
    staticCSP: contentSecurityPolicy,
    uiConfig: {
      docExpansion: 'list',
      defaultModelsExpandDepth: -1,
      tryItOutEnabled: false,
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
