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
  type Filters,
  listRecords,
  missingRecord,
  readRecord,
  removeRecord,
} from '../../src/records/repository.ts'
import { positionOf, writeCursor } from '../../src/records/selection.ts'
import { admissionTo, authorOf, notAdmin, requireAdmin, scopeOf } from './admission.ts'
import { addSchema, changeSchema, listSchema, readSchema, removeSchema } from './record-schemas.ts'

/** The pattern requires an id, so that a list's path with a trailing slash is still the list. */
const onePath = '/:id(.+)'

/** In bytes. Longer than any record. */
export const bodyLimit = 64 * 1024

/** The routes to list, read, add, change and remove one kind of record. One whose records nobody adds is only read. */
export default async function recordRoutes(app: FastifyInstance, { kind }: { kind: RecordKind }) {
  const { validatorCompiler: compile } = app
  app.setValidatorCompiler(route => {
    // Whoever writes a record validates it. Compiling these schemas, too, takes 80 ms of the start.
    const isRecord = compile === undefined || route.httpPart === 'body'
    return isRecord ? (value: unknown) => ({ value }) : compile(route)
  })
  readingRoutes(app, kind)
  if (Object.keys(kind.create.properties).length > 0) writingRoutes(app, kind)
}

/** What a list is asked for: values of the kind's filters, and these. */
type ListQuery = Filters & { sort?: string; limit?: number; cursor?: string; total?: boolean; _locale?: unknown }

/** The headers of a request that is only to be met by a certain version of a record. */
type Conditions = Pick<FastifyRequest['headers'], 'if-match' | 'if-none-match'>

/** What the API does with the records of a kind, and the admin pages do, too. */
export function operationsOf({ database: { db }, entityCache, recordKinds }: FastifyInstance, kind: RecordKind) {
  return {
    /** Reads a page of a list. @param scopeFor makes further filters of those that the query has */
    async list(query: ListQuery, scopeFor: (asked: Filters) => Filters = () => ({})) {
      const { sort = kind.usualSort, limit = 50, cursor, total = false, _locale, ...asked } = query
      const after = positionOf(cursor, sort)
      const scope = scopeFor(asked)
      const { records, next } = await listRecords(db, kind, { filters: asked, scope, sort, limit, after })
      const counted = total ? { total: await countRecords(db, kind, { ...asked, ...scope }) } : {}
      return { items: records, next: next && writeCursor(next), ...counted }
    },

    async add(request: FastifyRequest, values: Readonly<Record<string, unknown>>): Promise<AnyRecord> {
      const record = await createRecord(db, authorOf(request), kind, values)
      forgetRecords(entityCache, kind, record)
      return record
    },

    async change(
      request: FastifyRequest,
      id: string,
      values: Readonly<Record<string, unknown>>,
      conditions: Conditions,
    ): Promise<AnyRecord> {
      const { before, after } = await changeRecord(db, authorOf(request), kind, id, values, record =>
        assertPreconditions(request.method, conditions, record),
      )
      forgetRecords(entityCache, kind, before, after)
      return after
    },

    async remove(request: FastifyRequest, id: string, conditions: Conditions): Promise<void> {
      const record = await removeRecord(db, authorOf(request), recordKinds, kind, id, record =>
        assertPreconditions(request.method, conditions, record),
      )
      forgetRecords(entityCache, kind, record)
    },
  }
}

function readingRoutes(app: FastifyInstance, kind: RecordKind): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const { db } = app.database
  const operations = operationsOf(app, kind)

  routes.get(
    '/',
    { prefixTrailingSlash: 'no-slash', ...admissionTo(kind), schema: listSchema(kind) },
    async function list(request, reply) {
      const page = await operations.list(request.query, asked => scopeOf(request, asked))
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
    assertPreconditions(request.method, request.headers, record)
    return reply.varyOn('Cookie').header('etag', etagOfRecord(record)).send(record)
  })
}

function writingRoutes(app: FastifyInstance, kind: RecordKind): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const operations = operationsOf(app, kind)

  routes.post(
    '/',
    { prefixTrailingSlash: 'no-slash', onRequest: requireAdmin, bodyLimit, schema: addSchema(kind) },
    async function create(request, reply) {
      const record = await operations.add(request, request.body)
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
      const { params, body, headers } = request
      const after = await operations.change(request, params.id, body, headers)
      return reply.header('etag', etagOfRecord(after)).send(after)
    },
  )

  routes.delete(
    onePath,
    { onRequest: requireAdmin, schema: removeSchema(kind) },
    async function remove(request, reply) {
      await operations.remove(request, request.params.id, request.headers)
      return reply.code(204).send(null)
    },
  )
}

/**
 * Checks If-Match and If-None-Match against the record (RFC 9110, section 13.2.2). A GET that answers 304 is handled by
 * plugins/caching.ts.
 * @throws {PreconditionFailedHttpError} if a precondition is not met
 */
function assertPreconditions(method: string, conditions: Conditions, record: AnyRecord): void {
  const etag = etagOfRecord(record)
  const match = conditions['if-match']
  if (match !== undefined && !matches(match, etag)) {
    throw new PreconditionFailedHttpError(`If-Match does not match the current ETag, which is ${etag}.`)
  }
  const noneMatch = conditions['if-none-match']
  if (!isSafeMethod(method) && noneMatch !== undefined && matchesWeakly(noneMatch, etag)) {
    throw new PreconditionFailedHttpError(`If-None-Match matches the current ETag, ${etag}.`)
  }
}

/** The ETag of a record in the API, by which changes and removals say which version they mean. */
export function etagOfRecord(record: AnyRecord): string {
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
