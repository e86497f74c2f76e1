import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type {} from '../../plugins/record-kinds.ts'
import type { EntityCache } from '../../src/cache/entity-cache.ts'
import { PreconditionFailedHttpError } from '../../src/errors/http-errors.ts'
import { etagOf, matches, matchesWeakly } from '../../src/http/etag.ts'
import { isSafeMethod } from '../../src/http/request.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'
import {
  type AnyRecord,
  changeRecord,
  countRecords,
  createRecord,
  listRecords,
  missingRecord,
  readRecord,
  removeRecord,
} from '../../src/records/repository.ts'
import { positionOf, writeCursor } from '../../src/records/selection.ts'
import { admissionTo, authorOf, notAdmin, requireAdmin, scopeOf } from './admission.ts'
import { addSchema, changeSchema, listSchema, readSchema, removeSchema } from './record-schemas.ts'

interface RecordRoutesOptions {
  kind: RecordKind
}

/** The pattern requires an id, so that a list's path with a trailing slash is still the list. */
const onePath = '/:id(.+)'

/** In bytes. Longer than any record. */
const bodyLimit = 64 * 1024

/** The routes to list, read, add, change and remove one kind of record. */
export default async function recordRoutes(app: FastifyInstance, { kind }: RecordRoutesOptions) {
  readingRoutes(app, kind)
  writingRoutes(app, kind)
}

function readingRoutes(app: FastifyInstance, kind: RecordKind): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const { db } = app.database

  routes.get(
    '/',
    { prefixTrailingSlash: 'no-slash', ...admissionTo(kind), schema: listSchema(kind) },
    async function list(request, reply) {
      const { sort = 'id', limit = 50, cursor, total = false, _locale, ...asked } = request.query
      const after = positionOf(cursor, sort)
      const scope = scopeOf(request, asked)
      const { records, next } = await listRecords(db, kind, { filters: asked, scope, sort, limit, after })
      const counted = total ? { total: await countRecords(db, kind, { ...asked, ...scope }) } : {}
      const page = { items: records, next: next && writeCursor(next), ...counted }
      return reply
        .varyOn('Cookie')
        .header('etag', etagOf(JSON.stringify(page)))
        .send(page)
    },
  )

  routes.get(onePath, { ...admissionTo(kind), schema: readSchema(kind) }, async function read(request, reply) {
    const { id } = request.params
    const scope = scopeOf(request, {})
    const record = await readRecord(db, kind, id, scope)
    // A 404 would tell visitors which ids exist.
    if (record === undefined) throw Object.keys(scope).length > 0 ? notAdmin(request) : missingRecord(kind, id)
    assertPreconditions(request, record)
    return reply.varyOn('Cookie').header('etag', etagOfRecord(record)).send(record)
  })
}

function writingRoutes(app: FastifyInstance, kind: RecordKind): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const { db } = app.database

  routes.post(
    '/',
    { prefixTrailingSlash: 'no-slash', onRequest: requireAdmin, bodyLimit, schema: addSchema(kind) },
    async function create(request, reply) {
      const record = await createRecord(db, authorOf(request), kind, request.body)
      forgetRecords(app.entityCache, kind, record)
      return reply
        .code(201)
        .header('location', `${app.prefix}/${record.id}`)
        .header('etag', etagOfRecord(record))
        .send(record)
    },
  )

  routes.patch(
    onePath,
    { onRequest: requireAdmin, bodyLimit, schema: changeSchema(kind) },
    async function change(request, reply) {
      const { params, body } = request
      const { before, after } = await changeRecord(db, authorOf(request), kind, params.id, body, record =>
        assertPreconditions(request, record),
      )
      forgetRecords(app.entityCache, kind, before, after)
      return reply.header('etag', etagOfRecord(after)).send(after)
    },
  )

  routes.delete(
    onePath,
    { onRequest: requireAdmin, schema: removeSchema(kind) },
    async function remove(request, reply) {
      const { id } = request.params
      const record = await removeRecord(db, authorOf(request), app.recordKinds, kind, id, record =>
        assertPreconditions(request, record),
      )
      forgetRecords(app.entityCache, kind, record)
      return reply.code(204).send(null)
    },
  )
}

/**
 * Checks If-Match and If-None-Match against the record (RFC 9110, section 13.2.2). A GET that answers 304 is handled by
 * plugins/caching.ts.
 * @throws {PreconditionFailedHttpError} if a precondition is not met
 */
function assertPreconditions({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>, record: AnyRecord): void {
  const etag = etagOfRecord(record)
  const match = headers['if-match']
  if (match !== undefined && !matches(match, etag)) {
    throw new PreconditionFailedHttpError(`If-Match does not match the current ETag, which is ${etag}.`)
  }
  const noneMatch = headers['if-none-match']
  if (!isSafeMethod(method) && noneMatch !== undefined && matchesWeakly(noneMatch, etag)) {
    throw new PreconditionFailedHttpError(`If-None-Match matches the current ETag, ${etag}.`)
  }
}

function etagOfRecord(record: AnyRecord): string {
  return etagOf(JSON.stringify(record))
}

/**
 * Tells this server's cache of changed records, as the database's notification will (migration 0002). The next request
 * may arrive first.
 */
export function forgetRecords(
  cache: EntityCache,
  { table, cacheKey, links }: RecordKind,
  ...records: AnyRecord[]
): void {
  for (const record of records) {
    cache.change(table, cacheKey === null ? null : String(record[cacheKey]))
    for (const link of Object.values(links)) cache.change(link.table, record.id)
  }
}
