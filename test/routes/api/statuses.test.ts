import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { seed } from '../../../src/database/migrate.ts'
import { exampleId } from '../../../src/records/fields.ts'
import { kinds } from '../../../src/records/kinds.ts'
import {
  addLicense,
  addUser,
  type Asked,
  asking,
  build,
  type Method,
  openTestDatabase,
  signIn,
} from '../../support/site.ts'

const database = await openTestDatabase(t)
await seed(database.db)
const adminId = await addUser(database, { email: 'admin@museum.example', admin: true })
await addUser(database, { email: 'visitor@museum.example' })
const app = await build(t, { database })
const admin = await signIn(app, { host: 'localhost', email: 'admin@museum.example' })
const visitor = await signIn(app, { host: 'localhost', email: 'visitor@museum.example' })

const document = (await app.inject({ url: '/api/openapi.json', headers: { host: 'localhost' } })).json()
// Formats such as "id" are the API's own.
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema(document, 'api')

const ask = asking(app, admin, 'localhost')

/** The statuses that have been answered, by operation: "GET /api/licenses". */
const answered = new Map<string, Set<string>>()

/** Sends a request and checks that its answer is as documented. */
async function send(method: Method, path: string, id = '', sent: Asked = {}) {
  const response = await ask(method, path.replace('/api/', '').replace('{id}', '') + id, sent)
  const status = String(response.statusCode)
  const operation = `${method} ${path}`
  answered.set(operation, (answered.get(operation) ?? new Set()).add(status))
  const [type] = String(response.headers['content-type'] ?? '').split(';')
  const documented = document.paths[path][method.toLowerCase()].responses[status]
  if (documented === undefined) throw new Error(`${operation} ${status} is not documented: ${response.body}`)
  for (const header of Object.keys(documented.headers ?? {})) {
    if (!(header.toLowerCase() in response.headers)) throw new Error(`${operation} ${status} has no ${header}`)
  }
  if (documented.content === undefined) {
    if (response.body !== '') throw new Error(`${operation} ${status} has a body`)
  } else if (
    !ajv.validate(pointerTo('paths', path, method.toLowerCase(), 'responses', status, 'content', type), response.json())
  ) {
    throw new Error(`${operation} ${status}: ${ajv.errorsText()} ${response.body}`)
  }
  return response
}

/** A schema that refers to a part of the document. */
function pointerTo(...keys: (string | undefined)[]) {
  const steps = [...keys, 'schema'].map(key =>
    encodeURIComponent(String(key).replaceAll('~', '~0').replaceAll('/', '~1')),
  )
  return { $ref: `api#/${steps.join('/')}` }
}

const stale = { headers: { 'if-match': '"other"' } }
const nobody = { cookie: '' }
const somebody = { cookie: visitor }
const tooLarge = { payload: JSON.stringify('x'.repeat(70_000)), headers: { 'content-type': 'application/json' } }
const noJson = { payload: 'name=x', headers: { 'content-type': 'text/plain' } }
/** What a second record has in the place of the first one's name. */
const otherNames: Record<string, string> = {
  type: 'other',
  code: 'eo',
  name: 'Other',
  domain: 'other.example',
  email: 'other@museum.example',
}

/** The id of the first record of each kind, by the field that refers to it. */
const firstIds: Record<string, string> = {}
for (const kind of kinds) {
  const [first] = (await app.inject({ url: pathOf(kind), headers: { host: 'localhost', cookie: admin } })).json().items
  firstIds[kind.name.replace('license type', 'type')] = first?.id
}

function pathOf({ plural }: { plural: string }): string {
  return `/api/${plural.replaceAll(' ', '-')}`
}

/** An example with references to records that exist. */
function withKnownIds(example: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(example).map(([field, value]) => {
      const id = firstIds[field.replace(/_ids?$/, '')]
      return [field, field.endsWith('_id') ? id : field.endsWith('_ids') ? [id] : value]
    }),
  )
}

// A license that refers to the first type, language and platform, so that they cannot be removed.
await app.inject({
  method: 'POST',
  url: '/api/licenses',
  headers: { host: 'localhost', cookie: admin },
  payload: withKnownIds({ domain: 'using.example', name: 'Using', type_id: '', language_ids: '', platform_ids: '' }),
})

await addLicense(database, { domain: 'closed.example', type: 'passing', valid_until: new Date(Date.now() - 1000) })
await addLicense(database, { domain: 'asleep.example', type: 'passing', valid_from: new Date(Date.now() + 86_400_000) })

/** Asks for what the API refuses whatever the operation: on sites that are closed, and with too many invalid tokens. */
async function refuse(method: Method, path: string) {
  const id = path.endsWith('}') ? exampleId : ''
  await send(method, path, id, { host: 'closed.example', ...nobody })
  await send(method, path, id, { host: 'asleep.example', ...nobody })
  const invalid = { headers: { authorization: 'Bearer portico_no' }, ...nobody }
  while ((await send(method, path, id, invalid)).statusCode !== 429);
}

/** Asserts that each documented status of a path has been answered. */
function assertAllAnswered(t: Test, path: string) {
  for (const method of Object.keys(document.paths[path])) {
    const operation = `${method.toUpperCase()} ${path}`
    const documented = Object.keys(document.paths[path][method].responses)
    t.strictSame([...(answered.get(operation) ?? [])].sort(), documented, operation)
  }
}

t.test('the audit: the documented statuses and no others are answered, as documented', async t => {
  const path = '/api/audit'
  await refuse('GET', path)
  await send('GET', path)
  await send('GET', path, '', { headers: { 'if-none-match': '*' } })
  await send('GET', path, '?limit=0')
  await send('GET', path, '', nobody)
  await send('GET', path, '', somebody)
  assertAllAnswered(t, path)
  const one = `${path}/{id}`
  const [line] = (await send('GET', path)).json().items
  const { etag } = (await send('GET', one, line.id)).headers
  await refuse('GET', one)
  for (const [id, sent] of [
    [line.id, { headers: { 'if-none-match': String(etag) } }],
    [line.id, stale],
    [exampleId],
    [exampleId, nobody],
    [exampleId, somebody],
    ['x'],
  ] as const) {
    await send('GET', one, id, sent)
  }
  assertAllAnswered(t, one)
})

for (const kind of kinds) {
  const all = pathOf(kind)
  const one = `${all}/{id}`
  // Everybody may list what their own site has of some kinds.
  const guarded = kind.open ? `?license_id=${exampleId}` : ''
  const payload = withKnownIds(kind.examples.create)
  const reference = Object.keys(payload).find(field => /_ids?$/.test(field))
  const dangling = reference === undefined ? {} : { [reference]: kind.examples.create[reference] }

  t.test(
    `${kind.plural}: the documented statuses and no others are answered, and others than admins get 401 or 403`,
    async t => {
      const first = (await send('POST', all, '', { payload })).json()
      const etag = (await send('GET', one, first.id)).headers.etag
      const second = (
        await send('POST', all, '', { payload: { ...payload, [kind.knownBy]: otherNames[kind.knownBy] } })
      ).json()
      const newName = `new-${otherNames[kind.knownBy]}`.replace('new-eo', 'epo')
      const removable = { 'license type': firstIds['type'], user: adminId }[kind.name] ?? firstIds[kind.name]
      for (const [method, path, id, sent] of [
        ['GET', all, '?total=true'],
        ['GET', all, '', { headers: { 'if-none-match': '*' } }],
        ['GET', all, '?limit=0'],
        ['GET', all, guarded, nobody],
        ['GET', all, guarded, somebody],
        ['POST', all, '', { payload: {} }],
        ['POST', all, '', { payload: {}, ...nobody }],
        ['POST', all, '', { ...noJson, ...somebody }],
        ['POST', all, '', { payload }],
        ['POST', all, '', tooLarge],
        ['POST', all, '', noJson],
        ['POST', all, '', { payload: { ...payload, [kind.knownBy]: newName, ...dangling } }],
        ['GET', one, first.id, { headers: { 'if-none-match': String(etag) } }],
        ['GET', one, first.id, stale],
        ['GET', one, exampleId],
        ['GET', one, exampleId, nobody],
        ['GET', one, exampleId, somebody],
        ['GET', one, 'x'],
        ['PATCH', one, first.id, { payload: { [kind.knownBy]: otherNames[kind.knownBy] } }],
        ['PATCH', one, first.id, { payload: withKnownIds(kind.examples.change) }],
        ['PATCH', one, first.id, { payload: dangling }],
        ['PATCH', one, first.id, { payload: { colour: 'red' } }],
        ['PATCH', one, first.id, { payload: {}, ...stale }],
        ['PATCH', one, first.id, tooLarge],
        ['PATCH', one, first.id, noJson],
        ['PATCH', one, exampleId, { payload: {} }],
        ['PATCH', one, first.id, { payload: { colour: 'red' }, ...nobody }],
        ['PATCH', one, 'x', { ...noJson, ...somebody }],
        ['DELETE', one, first.id, stale],
        ['DELETE', one, first.id, nobody],
        ['DELETE', one, first.id, somebody],
        ['DELETE', one, 'x'],
        ['DELETE', one, exampleId],
        ['DELETE', one, ['licenses', 'museums', 'groups'].includes(kind.plural) ? second.id : removable],
        ['DELETE', one, first.id],
      ] as [Method, string, string, Asked?][]) {
        const { statusCode } = await send(method, path, id, sent)
        if (sent?.cookie === '') t.equal(statusCode, 401, `${method} ${path} by nobody`)
        if (sent?.cookie === visitor) t.equal(statusCode, 403, `${method} ${path} by a visitor`)
      }
      for (const method of ['GET', 'POST'] as const) await refuse(method, all)
      for (const method of ['GET', 'PATCH', 'DELETE'] as const) await refuse(method, one)
      for (const path of [all, one]) assertAllAnswered(t, path)
    },
  )
}
