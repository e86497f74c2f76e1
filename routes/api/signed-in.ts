import type { DoneFuncWithErrOrRes, FastifyReply, FastifyRequest } from 'fastify'
import type { User } from '../../plugins/firewall.ts'
import { html } from '../../src/pages/html.ts'
import { signInPath } from '../../plugins/access.ts'
import { renderSession } from '../session-view.ts'

/** Where Swagger UI's page begins. */
const start = '<div id="swagger-ui">'

/** An onSend hook that says on Swagger UI's page who is signed in, or where to sign in and come back. */
export function showWhoIsSignedIn(
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
