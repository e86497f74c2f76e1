import type { FastifyInstance } from 'fastify'
import { HttpError } from '../../src/errors/http-errors.ts'
import { type Content, html, type Markup } from '../../src/pages/html.ts'
import { type Names, namesOf, searchOf } from '../../src/records/names.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'
import type { AnyRecord } from '../../src/records/repository.ts'
import { assertValid, valueOf } from '../../src/records/validation.ts'
import { valuesOf } from '../api/index.ts'
import { operationsOf } from '../api/record-routes.ts'
import { listQuery } from '../api/record-schemas.ts'
import { type Field, fieldsOf, labelOf, type Offers, offersFor, readEntered, searchFor, textsIn } from './fields.ts'
import { renderInput } from './inputs.ts'
import { pathOf, renderValue, sendAdminPage } from './page.ts'
import { unlessRefused } from './submission.ts'
import { type Words, wordsOf } from './words.ts'

interface ListOptions {
  /** The order unless another is asked for. Default: by what people know a record by. */
  sort?: string
  pathFor?: (record: AnyRecord) => string | undefined
  /** A column besides those of the table. Default: the record's state, if it has any. */
  more?: { label: string; render: (words: Words, record: AnyRecord) => Content } | undefined
}

/** GET /admin/licenses: a page of the records of a kind, as they are searched for. */
export default function listRoute(
  app: FastifyInstance,
  kind: RecordKind,
  {
    sort: usualSort = kind.sorts.includes(kind.knownBy) ? kind.knownBy : 'id',
    pathFor = ({ id }) => pathOf(kind, id),
    more = kind.stateOf && { label: 'state', render: (words, record) => words.name(kind.stateOf?.(record) ?? '') },
  }: ListOptions = {},
): void {
  const { list } = operationsOf(app, kind)
  const { db } = app.database
  const schema = listQuery(kind)
  const filters = filtersOf(kind, app.recordKinds)
  const columns = columnsOf(kind)
  const mayAdd = Object.keys(kind.create.properties).length > 0

  app.get(pathOf(kind), async function showList(request, reply) {
    const words = wordsOf(request.locale)
    const { removed, ...query } = askedOf(request.query)
    const offers = await offersFor(db, filters, readEntered(filters, query), request.query)
    const found = await unlessRefused(async () => {
      const values = { sort: usualSort, total: true, ...valuesOf(query, schema.properties) }
      assertValid(schema, values)
      return await list(values)
    })
    if (found instanceof HttpError) reply.code(found.statusCode)
    return sendAdminPage(request, reply, {
      title: words.title(kind.plural),
      done: removed && words.removed,
      problem: found instanceof HttpError ? words.quote(found.message) : undefined,
      main: html`
        <p class="quiet">${words.say(kind.purpose)}</p>
        ${mayAdd && html`<p><a class="act" href="${pathOf(kind, 'new')}">${words.add(words.name(kind.name))}</a></p>`}
        ${renderSearch(words, kind, filters, query, offers)}
        ${found instanceof HttpError ? null : await renderFound(words, query, found)}`,
    })
  })

  async function renderFound(words: Words, query: Query, { items, next, total = 0 }: Awaited<ReturnType<typeof list>>) {
    const { cursor, ...first } = query
    const linkTo = (more: Query) => `${pathOf(kind)}?${new URLSearchParams({ ...first, ...more }).toString()}`
    const pages = [
      ...(cursor === undefined ? [] : [[linkTo({}), words.paging.first] as const]),
      ...(next === null ? [] : [[linkTo({ cursor: next }), words.paging.next] as const]),
    ]
    return html`
        <p class="quiet" role="status">${words.total(total)}</p>
        ${
          items.length > 0 &&
          html`
        <div class="wide" role="region" tabindex="0" aria-label="${words.title(kind.plural)}"><table>
          <thead><tr>${columns.map(field => renderHeading(words, field, query['sort'] ?? usualSort, linkTo))}${
            more && html`<th scope="col">${words.title(more.label)}</th>`
          }</tr></thead>
          <tbody>${await renderRows(words, items)}
          </tbody>
        </table></div>`
        }
        ${pages.length > 0 && html`<nav aria-label="${words.paging.pages}"><ul>${pages.map(([href, text]) => html`<li><a href="${href}">${text}</a></li>`)}</ul></nav>`}`
  }

  function renderHeading(words: Words, { name, label }: Field, sort: string, linkTo: (more: Query) => string): Markup {
    const text = words.title(label)
    if (!kind.sorts.includes(name)) return html`<th scope="col">${text}</th>`
    const isAscending = sort === name
    const order = (isAscending || sort === `-${name}`) && html` aria-sort="${isAscending ? 'ascending' : 'descending'}"`
    return html`<th scope="col"${order}><a href="${linkTo({ sort: isAscending ? `-${name}` : name })}">${text}</a></th>`
  }

  async function renderRows(words: Words, records: readonly AnyRecord[]): Promise<Markup[]> {
    const names = new Map<string, Names>()
    for (const { name, to } of columns) {
      const ids = records.map(record => record[name])
      if (to !== undefined) names.set(name, await namesOf(db, to, ids))
    }
    return records.map(record => {
      const cells = columns.map(field => {
        const value = renderValue(words, field, record[field.name], names.get(field.name))
        if (field.name !== kind.knownBy) return html`<td>${value}</td>`
        const path = pathFor(record)
        return html`<th scope="row">${path === undefined ? value : html`<a href="${path}">${value || `# ${record.id}`}</a>`}</th>`
      })
      return html`
            <tr>${cells}${more && html`<td>${more.render(words, record)}</td>`}</tr>`
    })
  }
}

type Query = Readonly<Record<string, string>>

/** The parameters of a query that have a text. Those of a form that are empty ask for nothing. */
function askedOf(sent: unknown): Query {
  const names = typeof sent === 'object' && sent !== null ? Object.keys(sent) : []
  const texts = names.map(name => [name, textsIn(sent, name)?.at(-1) ?? ''] as const)
  return Object.fromEntries(texts.filter(([name, text]) => text !== '' && !name.startsWith(searchFor(''))))
}

/** The columns of a list: first what people know a record by, and last its id. */
function columnsOf(kind: RecordKind): Field[] {
  const rank = ({ name }: Field) => (name === kind.knownBy ? 0 : name === 'id' ? 2 : 1)
  return fieldsOf(kind, kind.schema.properties)
    .filter(
      ({ name, schema }) => !(name in kind.links || name in (kind.computed ?? {}) || valueOf(schema).type === 'object'),
    )
    .sort((one, other) => rank(one) - rank(other))
}

/**
 * The filters that a list shows: how a line begins, the range of a time or number, and the value of others but texts of
 * several lines.
 */
function filtersOf(kind: RecordKind, kinds: readonly RecordKind[]): Field[] {
  const isSearched = (name: string) => `${name}_prefix` in kind.filters || `${name}_from` in kind.filters
  const shown = Object.entries(kind.filters).filter(
    ([name, { schema }]) => name !== 'id' && !isSearched(name) && valueOf(schema).format !== 'text',
  )
  return fieldsOf(kind, Object.fromEntries(shown.map(([name, { schema }]) => [name, schema]))).map(field => ({
    ...field,
    to: field.to ?? kinds.find(({ name }) => `${name.replaceAll(' ', '_')}_id` === field.name),
    isRequired: false,
  }))
}

function renderSearch(words: Words, kind: RecordKind, filters: readonly Field[], query: Query, offers: Offers): Markup {
  const search = filters.filter(({ name }) => name === searchOf(kind))
  const others = filters.filter(({ name }) => name !== searchOf(kind))
  const isOpen = search.length === 0 || others.some(({ name }) => name in query || offers.get(name)?.searched)
  const render = (field: Field) => html`
            <div class="field"><label for="field-${field.name}">${labelFilter(words, field)}</label>
              ${renderInput(words, field, query[field.name] ?? '', offers.get(field.name), { nothing: words.any })}</div>`
  return html`
        <form role="search" action="${pathOf(kind)}">
          ${query['sort'] !== undefined && html`<input type="hidden" name="sort" value="${query['sort']}">`}
          <div class="row">${search.map(render)}<button>${words.search}</button> <a href="${pathOf(kind)}">${words.clear}</a></div>
          <details${isOpen && html` open`}><summary>${words.filters}</summary><div class="row">${others.map(render)}</div></details>
        </form>`
}

/** Says what the filters "name_prefix", "opens_from" and "opens_until" do. */
function labelFilter(words: Words, { name, label }: Field): string {
  const [, column = '', part] = /^(.+)_(prefix|from|until)$/.exec(name) ?? []
  if (part !== 'prefix' && part !== 'from' && part !== 'until') return words.title(label)
  return words.parts[part](words.title(labelOf(column)))
}
