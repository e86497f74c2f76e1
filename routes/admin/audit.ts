import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { html } from '../../src/pages/html.ts'
import { auditOf } from '../../src/records/audit.ts'
import type { AnyRecord } from '../../src/records/repository.ts'
import { labelOf } from './fields.ts'
import listRoute from './list.ts'
import { pathOf } from './page.ts'
import type { Words } from './words.ts'

/** GET /admin/audit: who changed what, newest first. */
export default function auditRoute(app: FastifyInstance): void {
  const lines = auditOf(app.recordKinds)
  listRoute(app, lines, {
    sort: lines.usualSort,
    pathFor({ table, record_id: id, action }) {
      const kind = app.recordKinds.find(kind => kind.table === table)
      return kind && action !== 'remove' ? pathOf(kind, String(id)) : undefined
    },
    more: { label: 'changes', render: renderChanges },
  })
}

/** Renders the fields that were changed, or all of a record that was added or removed. */
function renderChanges(words: Words, { before, after }: AnyRecord) {
  const [old, own] = [valuesOf(before), valuesOf(after)]
  const names = [...new Set([...old.keys(), ...own.keys()])].filter(
    name => !isDeepStrictEqual(old.get(name), own.get(name)),
  )
  return html`<dl>${names.map(
    name => html`
                <dt>${words.title(labelOf(name))}</dt>
                <dd>${old.has(name) && html`<del>${write(old.get(name))}</del> `}${own.has(name) && html`<ins>${write(own.get(name))}</ins>`}</dd>`,
  )}</dl>`
}

function valuesOf(image: unknown): Map<string, unknown> {
  return new Map(typeof image === 'object' && image !== null ? Object.entries(image) : [])
}

function write(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
