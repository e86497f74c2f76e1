import swaggerUi from '@fastify/swagger-ui'
import type { DoneFuncWithErrOrRes, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { signInPath } from '../../plugins/access.ts'
import type { User } from '../../plugins/firewall.ts'
import { html } from '../../src/pages/html.ts'
import { renderSession } from '../site-view.ts'

/** Allows nothing from other origins and nothing inline, except one style attribute in Swagger UI's icons. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; " +
  "style-src 'self' 'unsafe-hashes' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; " +
  "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** GET /api/docs. Nothing can be sent before a click on "Try it out". */
export default async function documentationPage(app: FastifyInstance) {
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

/** Where Swagger UI's page begins. */
const start = '<div id="swagger-ui">'

/** An onSend hook that says on Swagger UI's page who is signed in, or where to sign in and come back. */
function showWhoIsSignedIn(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: DoneFuncWithErrOrRes,
): void {
  if (typeof payload !== 'string' || !payload.includes(start)) return done(null, payload)
  reply.varyOn('Cookie')
  const { user } = request
  const who =
    user === null
      ? renderSignIn(signInPath(request))
      : renderSession({ ...user, email: describe(user) }, 'en', { isSentence: true })
  done(
    null,
    payload.replace(start, () => `${html`<header id="signed-in">${who}</header>`.toString()}${start}`),
  )
}

function renderSignIn(href: string) {
  return html`<p>Nobody is signed in. <a href="${href}">Sign in</a></p>`
}

function describe({ email, admin }: User): string {
  return admin ? `${email}, an admin.` : `${email}, who is not an admin.`
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
  // Signing in comes back to the open operation, too, which only the browser knows.
  const signIn = document.querySelector('#signed-in a')
  signIn?.addEventListener('click', () => {
    signIn.search = '?next=' + encodeURIComponent(location.pathname + location.search + location.hash)
  })
`

const style = `
  :root { color-scheme: light dark }
  body { background: light-dark(#fbfbfa, #14171c) }
  #signed-in { max-width: 1460px; margin: 0 auto; padding: .75rem 20px 0; font: 1rem/1.5 system-ui, sans-serif;
    color: light-dark(#1c2128, #e6e9ee); overflow-wrap: anywhere }
  #signed-in p { margin: 0 }
  #signed-in a { color: light-dark(#0a57a4, #7cb8f2) }
  #signed-in form { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: center }
  #signed-in button { font: inherit; color: inherit; cursor: pointer; padding: .25rem .7rem; border-radius: .4rem;
    border: 1px solid light-dark(#818b98, #6e7783); background: light-dark(#fff, #1b2027) }
  /* Swagger UI leaves these dark on dark. */
  .dark-mode .swagger-ui table.headers td { color: inherit }
  /* Hidden: "Authorize" cannot set the HttpOnly cookie, and the description already links to the document. */
  .swagger-ui .topbar, .swagger-ui .scheme-container, .swagger-ui .authorization__btn, .swagger-ui .info .link { display: none }
`
