import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import type {} from '../../plugins/record-kinds.ts'
import { html } from '../../src/pages/html.ts'
import { requireAdmin } from '../api/admission.ts'
import { bodyLimit } from '../api/record-routes.ts'
import { parseForm } from '../credential-form.ts'
import auditRoute from './audit.ts'
import listRoute from './list.ts'
import { pathOf, sendAdminPage } from './page.ts'
import recordRoutes from './record.ts'
import tokenRoutes from './tokens.ts'
import { wordsOf } from './words.ts'

/** /admin: pages by which admins do in a browser what the API does, for the records of all kinds. */
export default async function admin(app: FastifyInstance) {
  app.addHook('onRequest', requireAdmin)
  app.removeAllContentTypeParsers()
  await app.register(formbody, { bodyLimit, parser: parseForm })

  app.get('/admin', async function showKinds(request, reply) {
    const words = wordsOf(request.locale)
    return sendAdminPage(request, reply, {
      title: words.admin,
      main: html`
        <ul class="records">${app.recordKinds.map(
          kind => html`
          <li><a href="${pathOf(kind)}">${words.title(kind.plural)}</a><br><span class="quiet">${words.say(kind.purpose)}</span></li>`,
        )}</ul>`,
    })
  })

  for (const kind of app.recordKinds) {
    listRoute(app, kind)
    recordRoutes(app, kind)
  }
  tokenRoutes(app)
  auditRoute(app)
}
