import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HttpError, PreconditionFailedHttpError } from '../../src/errors/http-errors.ts'
import { type Content, html, type Markup } from '../../src/pages/html.ts'
import { auditLines, consequencesOf } from '../../src/records/audit.ts'
import { users } from '../../src/records/kinds.ts'
import { namesOf } from '../../src/records/names.ts'
import { makeReset, resetLifetime } from '../../src/records/password-resets.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'
import { type AnyRecord, listRecords, missingRecord, readRecord } from '../../src/records/repository.ts'
import { formats } from '../../src/records/validation.ts'
import { authorOf } from '../api/admission.ts'
import { etagOfRecord, operationsOf } from '../api/record-routes.ts'
import { textOf } from '../credential-form.ts'
import { enteredOf, fieldsOf, isSearching, labelOf, offersFor, readEntered, textsIn, valuesIn } from './fields.ts'
import { renderFields } from './inputs.ts'
import { pathOf, renderTime, renderValue, sendAdminPage } from './page.ts'
import { errorsIn, makeOnce, problemOf, unlessRefused } from './submission.ts'
import { type Words, wordsOf } from './words.ts'

/**
 * The pages of one record: /admin/licenses/new to add it, /admin/licenses/1 to see and change it, and
 * /admin/licenses/1/remove, which says what goes with it.
 * @param newSecret makes the kind that adds a record with something that is shown once
 */
export default function recordRoutes(
  app: FastifyInstance,
  kind: RecordKind,
  newSecret?: () => { kind: RecordKind; secret: string },
): void {
  const { db } = app.database
  const operations = operationsOf(app, kind)
  const fields = fieldsOf(kind, kind.change.properties)
  const newFields = fieldsOf(kind, kind.create.properties)
  const once = makeOnce<{ record: AnyRecord; secret: string | undefined }>()
  const path = pathOf(kind, ':id(^\\d+$)')

  app.get(pathOf(kind, 'new'), async function showAddition(request, reply) {
    return await sendForm(request, reply, undefined, request.query)
  })

  app.post(pathOf(kind, 'new'), async function addFromForm(request, reply) {
    const { body } = request
    if (isSearching(newFields, body)) return await sendForm(request, reply, undefined, body)
    const added = await unlessRefused(() =>
      once(request, async () => {
        const values = valuesIn(newFields, readEntered(newFields, body))
        const made = newSecret?.()
        const record = await operationsOf(app, made?.kind ?? kind).add(request, values)
        return { record, secret: made?.secret }
      }),
    )
    if (added instanceof HttpError) return await sendForm(request, reply, undefined, body, added)
    const { record, secret } = added
    if (secret === undefined) return reply.redirect(`${pathOf(kind, record.id)}?saved`, 303)
    return sendSecret(request, reply, record, secret, wordsOf(request.locale).madeToken)
  })

  app.get(path, async function showRecord(request, reply) {
    return await sendForm(request, reply, await recordAt(request))
  })

  app.post(path, async function changeFromForm(request, reply) {
    const { body } = request
    const record = await recordAt(request)
    if (isSearching(fields, body)) return await sendForm(request, reply, record, body)
    const values = valuesIn(fields, readEntered(fields, body), record)
    const changed = await unlessRefused(async () => {
      // A form that was sent twice has changed everything the first time.
      if (Object.keys(values).length === 0) return record
      return await operations.change(request, record.id, values, { 'if-match': textOf(body, 'etag') })
    })
    if (changed instanceof HttpError) return await sendForm(request, reply, await recordAt(request), body, changed)
    return reply.redirect(`${pathOf(kind, record.id)}?saved`, 303)
  })

  app.get(`${path}/remove`, async function showRemoval(request, reply) {
    return await sendQuestion(request, reply)
  })

  app.post(`${path}/remove`, async function removeFromForm(request, reply) {
    const { id } = await recordAt(request)
    const refusal = await unlessRefused(() =>
      operations.remove(request, id, { 'if-match': textOf(request.body, 'etag') }),
    )
    if (refusal instanceof HttpError) return await sendQuestion(request, reply, refusal)
    return reply.redirect(`${pathOf(kind)}?removed=1`, 303)
  })

  if (kind === users) {
    app.post(`${path}/password-link`, async function makeLink(request, reply) {
      const record = await recordAt(request)
      const token = await makeReset(db, authorOf(request), record.id)
      const secret = `${request.protocol}://${request.host}/password/reset?token=${token}`
      return sendSecret(request, reply, record, secret, wordsOf(request.locale).madeLink(resetLifetime))
    })
  }

  async function recordAt({ params }: FastifyRequest): Promise<AnyRecord> {
    const id = textOf(params, 'id')
    const record = formats.id.accepts(id) ? await readRecord(db, kind, id) : undefined
    if (record === undefined) throw missingRecord(kind, id)
    return record
  }

  async function describeLastChange(words: Words, { id }: AnyRecord): Promise<Content> {
    const { records } = await listRecords(db, auditLines, { filters: { table: kind.table, record_id: id }, limit: 1 })
    // What psql changes is not in the audit.
    return records.map(({ actor, via, at }) => [words.changedBy(actor ?? via), ' (', renderTime(at), '). '])
  }

  async function sendForm(
    request: FastifyRequest,
    reply: FastifyReply,
    record: AnyRecord | undefined,
    sent?: unknown,
    refusal?: HttpError,
  ): Promise<FastifyReply> {
    const words = wordsOf(request.locale)
    const ownFields = record === undefined ? newFields : fields
    const shown = enteredOf(ownFields, record)
    const entered = new Map([...shown, ...readEntered(ownFields, sent)])
    const offers = await offersFor(db, ownFields, entered, sent)
    const isOutdated = refusal instanceof PreconditionFailedHttpError
    const warning = record && (await kind.warnOf(db, record))
    if (refusal !== undefined) reply.code(refusal.statusCode)
    return sendAdminPage(request, reply, {
      title: record === undefined ? words.add(words.name(kind.name)) : titleOf(words, record),
      done: textsIn(request.query, 'saved') && words.saved,
      problem:
        isOutdated && record
          ? [await describeLastChange(words, record), words.outdated]
          : problemOf(words, ownFields, refusal),
      main: html`
        ${warning !== undefined && html`<p class="notice">${words.quote(warning)}</p>`}
        ${
          ownFields.length > 0 &&
          html`
        <form method="post" action="${pathOf(kind, record?.id ?? 'new')}" class="record">
          ${record === undefined ? html`<input type="hidden" name="form" value="${textOf(sent, 'form') || randomUUID()}">` : html`<input type="hidden" name="etag" value="${etagOfRecord(record)}">`}
          ${renderFields(words, ownFields, { entered, offers, errors: errorsIn(refusal), saved: isOutdated ? shown : undefined })}
          <p><button class="act">${words.save}</button> <a href="${pathOf(kind)}">${words.cancel}</a></p>
        </form>`
        }
        ${record && renderMore(words, record)}`,
    })
  }

  function titleOf(words: Words, record: AnyRecord): string {
    return `${words.title(kind.name)}: ${String(record[kind.knownBy])}`
  }

  /** Renders what cannot be changed, and links to what belongs to a record and to what else can be done with it. */
  function renderMore(words: Words, record: AnyRecord): Markup {
    const facts = fieldsOf(kind, kind.schema.properties).filter(({ name }) => !(name in kind.change.properties))
    const filter = `${kind.name.replaceAll(' ', '_')}_id`
    const audit = new URLSearchParams({ table: kind.table, record_id: record.id })
    const links = [
      ...app.recordKinds
        .filter(({ filters }) => filter in filters)
        .map(other => [`${pathOf(other)}?${filter}=${record.id}`, words.title(other.plural)] as const),
      ...(kind === users ? [[`/admin/tokens?user_id=${record.id}`, words.title('tokens')] as const] : []),
      [`/admin/audit?${audit.toString()}`, words.history] as const,
      [pathOf(kind, record.id, 'remove'), words.remove] as const,
    ]
    return html`
        <dl>${facts.map(field => html`<dt>${words.title(field.label)}</dt><dd>${renderValue(words, field, record[field.name])}</dd>`)}</dl>
        <ul>${links.map(([href, text]) => html`<li><a href="${href}">${text}</a></li>`)}</ul>
        ${kind === users && html`<form method="post" action="${pathOf(kind, record.id, 'password-link')}"><button>${words.makeLink}</button></form>`}`
  }

  async function sendQuestion(request: FastifyRequest, reply: FastifyReply, refusal?: HttpError) {
    const words = wordsOf(request.locale)
    const record = await recordAt(request)
    const name = (await namesOf(db, kind, [record.id])).get(record.id) ?? record.id
    const consequences = await consequencesOf(db, app.recordKinds, kind, record.id)
    const isOutdated = refusal instanceof PreconditionFailedHttpError
    if (refusal !== undefined) reply.code(refusal.statusCode)
    return sendAdminPage(request, reply, {
      title: words.removeOne(words.name(kind.name), name),
      problem: isOutdated ? await describeLastChange(words, record) : problemOf(words, [], refusal),
      main: html`
        <p>${consequences.length === 0 ? words.alone : words.notAlone}</p>
        <ul>${consequences.map(({ kind: { table }, fate, count }) => {
          const plural = app.recordKinds.find(other => other.table === table)?.plural ?? labelOf(table)
          return html`<li>${words.fates[fate](count, words.title(plural))}</li>`
        })}</ul>
        <form method="post" action="${pathOf(kind, record.id, 'remove')}">
          <input type="hidden" name="etag" value="${etagOfRecord(record)}">
          <p><button class="act danger">${words.remove}</button> <a href="${pathOf(kind, record.id)}">${words.cancel}</a></p>
        </form>`,
    })
  }

  function sendSecret(request: FastifyRequest, reply: FastifyReply, record: AnyRecord, secret: string, done: string) {
    const words = wordsOf(request.locale)
    return sendAdminPage(request, reply, {
      title: titleOf(words, record),
      done,
      main: html`<p><code class="secret">${secret}</code></p>
        <p><a href="${pathOf(kind)}">${words.back}</a></p>`,
    })
  }
}
