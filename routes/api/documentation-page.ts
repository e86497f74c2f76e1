import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** Allows nothing from other origins and nothing inline, except one style attribute in Swagger UI's icons. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; " +
  "style-src 'self' 'unsafe-hashes' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; " +
  "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** GET /api/docs. Nothing can be sent before a click on "Try it out". */
export default async function documentationPage(app: FastifyInstance) {
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

/** Makes Swagger UI follow the system's colour scheme and fit a phone. */
const script = `
  const viewport = document.createElement('meta')
  viewport.name = 'viewport'
  viewport.content = 'width=device-width, initial-scale=1'
  document.head.append(viewport)
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', follow)
  follow()
`

const style = `
  :root { color-scheme: light dark }
  body { background: light-dark(#fbfbfa, #14171c) }
  /* Swagger UI leaves these dark on dark. */
  .dark-mode .swagger-ui table.headers td { color: inherit }
  /* Hidden: "Authorize" cannot set the HttpOnly cookie, and the description already links to the document. */
  .swagger-ui .topbar, .swagger-ui .scheme-container, .swagger-ui .authorization__btn, .swagger-ui .info .link { display: none }
`
