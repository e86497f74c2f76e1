import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { BadRequestHttpError } from '../../src/errors/http-errors.ts'
import { etagOf } from '../../src/http/etag.ts'
import { readCursor, writeCursor } from '../../src/records/cursor.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'
import {
  type AnyRecord,
  changeRecord,
  changesOf,
  createRecord,
  type Filters,
  listRecords,
  missingRecord,
  readRecord,
  removeRecord,
} from '../../src/records/repository.ts'
import { notAdmin, requireAdmin } from './admission.ts'
import { assertPreconditions } from './preconditions.ts'
import { changeHeaders, listPage, listQuery, located, problem, recordParams, tagged } from './record-schemas.ts'

/** The pattern requires an id, so that a list's path with a trailing slash is still the list. */
const onePath = '/:id(.+)'

/** In bytes. Longer than any record. */
const bodyLimit = 64 * 1024

export interface RecordRoutesOptions {
  kind: RecordKind
}

/** The routes to list, read, add, change and remove one kind of record. */
export default async function recordRoutes(app: FastifyInstance, { kind }: RecordRoutesOptions) {
  const {
    database: { db },
    store,
  } = app
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const params = recordParams(kind)
  const tags = [kind.plural]
  const [one, several] = [camelCase(kind.name), camelCase(kind.plural)]
  const security = kind.open ? [{}, { session: [] }] : [{ session: [] }]

  routes.get(
    '/',
    {
      prefixTrailingSlash: 'no-slash',
      ...(!kind.open && { onRequest: requireAdmin }),
      schema: {
        tags,
        operationId: `list${several}`,
        summary: `List ${kind.plural}`,
        security,
        querystring: listQuery(kind),
        response: { 200: tagged(listPage(kind)), '4xx': problem },
      },
    },
    async function list(request, reply) {
      const { sort = 'id', limit = 50, cursor, _locale, ...asked } = request.query
      const after = cursor === undefined ? undefined : readCursor(cursor, sort)
      if (cursor !== undefined && after === undefined) throw invalidCursor()
      const { records, next } = await listRecords(db, kind, {
        filters: { ...asked, ...scopeOf(request, asked) },
        sort,
        limit,
        after,
      })
      const page = { items: records, next: next && writeCursor(next) }
      return reply
        .varyOn('Cookie')
        .header('etag', etagOf(JSON.stringify(page)))
        .send(page)
    },
  )

  routes.get(
    onePath,
    {
      ...(!kind.open && { onRequest: requireAdmin }),
      schema: {
        tags,
        operationId: `read${one}`,
        summary: `Read a ${kind.name}`,
        security,
        params,
        response: { 200: tagged(kind.schema), '4xx': problem },
      },
    },
    async function read(request, reply) {
      const { id } = request.params
      const scope = scopeOf(request, {})
      const record = await readRecord(db, kind, id, scope)
      // A 404 would tell visitors which ids exist.
      if (record === undefined) throw Object.keys(scope).length > 0 ? notAdmin(request) : missingRecord(kind, id)
      assertPreconditions(request.headers, true, etagOfRecord(record))
      return reply.varyOn('Cookie').header('etag', etagOfRecord(record)).send(record)
    },
  )

  routes.post(
    '/',
    {
      prefixTrailingSlash: 'no-slash',
      onRequest: requireAdmin,
      bodyLimit,
      schema: {
        tags,
        operationId: `add${one}`,
        summary: `Add a ${kind.name}`,
        body: kind.create,
        response: { 201: located(kind.schema), '4xx': problem },
      },
    },
    async function create(request, reply) {
      const record = await createRecord(db, kind, request.body)
      forget(record)
      return reply
        .code(201)
        .header('location', `${app.prefix}/${record.id}`)
        .header('etag', etagOfRecord(record))
        .send(record)
    },
  )

  routes.patch(
    onePath,
    {
      onRequest: requireAdmin,
      bodyLimit,
      schema: {
        tags,
        operationId: `change${one}`,
        summary: `Change a ${kind.name}`,
        params,
        headers: changeHeaders,
        body: kind.change,
        response: { 200: tagged(kind.schema), '4xx': problem },
      },
    },
    async function change(request, reply) {
      const { id } = request.params
      const change = await changeRecord(db, kind, id, request.body, record =>
        assertPreconditions(request.headers, false, etagOfRecord(record)),
      )
      forget(change.before, change.after)
      return reply.header('etag', etagOfRecord(change.after)).send(change.after)
    },
  )

  routes.delete(
    onePath,
    {
      onRequest: requireAdmin,
      schema: {
        tags,
        operationId: `remove${one}`,
        summary: `Remove a ${kind.name}`,
        params,
        headers: changeHeaders,
        response: { 204: Type.Null({ description: 'The record has been removed.' }), '4xx': problem },
      },
    },
    async function remove(request, reply) {
      const { id } = request.params
      const record = await removeRecord(db, kind, id, record =>
        assertPreconditions(request.headers, false, etagOfRecord(record)),
      )
      forget(record)
      return reply.code(204).send(null)
    },
  )

  /** Tells this server's store at once, because its next request may arrive before the database's notification. */
  function forget(...records: AnyRecord[]): void {
    for (const [table, key] of changesOf(kind, ...records)) store.change(table, key)
  }

  /** Limits everybody but admins to the records of the current license. */
  function scopeOf(request: FastifyRequest, asked: Filters): Filters {
    if (request.user?.admin === true) return {}
    const { id } = request.requireLicense()
    if (asked['license_id'] !== undefined && asked['license_id'] !== id) throw notAdmin(request)
    return { license_id: id }
  }
}

/** "license types" becomes "LicenseTypes". */
function camelCase(words: string): string {
  return words.replace(/(?:^| )(.)/g, (_, letter: string) => letter.toUpperCase())
}

function etagOfRecord(record: AnyRecord): string {
  return etagOf(JSON.stringify(record))
}

function invalidCursor(): BadRequestHttpError {
  const message = 'cursor must be the "next" of a previous page of the same list, in the same order'
  return new BadRequestHttpError(`${message}.`, { members: { errors: [{ field: 'cursor', message }] } })
}
