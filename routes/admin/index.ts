import { isDeepStrictEqual } from 'node:util'
import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import type {} from '../../plugins/record-kinds.ts'
import { html } from '../../src/pages/html.ts'
import { auditOf } from '../../src/records/audit.ts'
import type { AnyRecord } from '../../src/records/repository.ts'
import { newToken, tokens } from '../../src/records/tokens.ts'
import { requireAdmin } from '../api/admission.ts'
import { bodyLimit } from '../api/record-routes.ts'
import { parseForm } from '../credential-form.ts'
import { labelOf } from './fields.ts'
import listRoute from './list.ts'
import { pathOf, sendAdminPage } from './page.ts'
import recordRoutes from './record.ts'
import { type Words, wordsOf } from './words.ts'

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
  listRoute(app, tokens)
  recordRoutes(app, tokens, newToken)
  const audit = auditOf(app.recordKinds)
  listRoute(app, audit, {
    sort: audit.usualSort,
    pathFor({ table, record_id: id, action }) {
      const kind = app.recordKinds.find(kind => kind.table === table)
      return kind && action !== 'remove' ? pathOf(kind, String(id)) : undefined
    },
    more: { label: 'changes', render: renderChanges },
  })
}

/** Renders the fields that a line of the audit changes, or all of a record that was added or removed. */
function renderChanges(words: Words, { before, after }: AnyRecord) {
  const [old, own] = [new Map(Object.entries(before ?? {})), new Map(Object.entries(after ?? {}))]
  const names = [...new Set([...old.keys(), ...own.keys()])].filter(
    name => !isDeepStrictEqual(old.get(name), own.get(name)),
  )
  const write = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return html`<dl>${names.map(
    name => html`
                <dt>${words.title(labelOf(name))}</dt>
                <dd>${old.has(name) && html`<del>${write(old.get(name))}</del> `}${own.has(name) && html`<ins>${write(own.get(name))}</ins>`}</dd>`,
  )}</dl>`
}
