import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { seed } from '../../../src/database/migrate.ts'
import { build } from '../../support/build.ts'
import { addUser } from '../../support/records.ts'
import { signIn } from '../../support/sign-in.ts'
import { openTestDatabase } from '../../support/test-database.ts'

interface Operation {
  operationId: string
  summary: string
  parameters?: { name: string; in: string; example?: unknown; examples?: unknown; schema: unknown }[]
  requestBody?: { content: Record<string, { example?: unknown; examples?: unknown; schema: unknown }> }
  responses: Record<string, unknown>
}

interface OpenApi {
  paths: Record<string, Record<string, Operation>>
}

interface Example {
  operation: Operation
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  url: string
  payload?: object
}

const database = await openTestDatabase(t)
await seed(database.db)
await addUser(database, { email: 'admin@museum.example', admin: true })
const app = await build(t, { database })
const headers = { host: 'localhost', cookie: await signIn(app, { host: 'localhost', email: 'admin@museum.example' }) }

const document: OpenApi = (await app.inject({ url: '/api/openapi.json', headers: { host: 'localhost' } })).json()

t.test('the OpenAPI document is valid', async t => {
  const { valid, errors } = await new Validator().validate(Object(document))
  t.ok(valid, JSON.stringify(errors))
})

t.test('the document has every route of the API', async t => {
  const operations = Object.values(document.paths).flatMap(path => Object.values(path))
  t.equal(operations.length, 7 * 5)
  t.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
})

t.test('the document states response headers, the format of errors, and defaults only for additions', async t => {
  const { '/api/licenses': list, '/api/licenses/{id}': one } = document.paths
  for (const operation of [list?.['get'], one?.['get'], one?.['patch']]) {
    t.match(operation?.responses, { 200: { headers: { ETag: {} } } })
  }
  t.match(list?.['post']?.responses, {
    201: { headers: { ETag: {}, Location: {} } },
    '4XX': { content: { 'application/problem+json': {} } },
  })
  t.match(list?.['post']?.requestBody, {
    content: {
      'application/json': {
        schema: { properties: { protected: { default: false } }, required: ['domain', 'name', 'type_id'] },
      },
    },
  })
  t.notMatch(JSON.stringify(one), '"default"')
})

t.test('the document is not sent twice', async t => {
  const {
    headers: { etag },
  } = await app.inject({ url: '/api/openapi.json', headers: { host: 'localhost' } })
  t.equal(
    (await app.inject({ url: '/api/openapi.json', headers: { host: 'localhost', 'if-none-match': String(etag) } }))
      .statusCode,
    304,
  )
})

t.test('every example in the document is a request that can be sent', async t => {
  const sent = new Set<unknown>()
  // A record that refers to others is added after them and removed before them.
  const examples = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => exampleOf(path, method, operation, sent)),
  )
  const order = ['POST', 'GET', 'PATCH', 'DELETE']
  const additions = examples
    .filter(({ method }) => method !== 'DELETE')
    .sort((one, other) => order.indexOf(one.method) - order.indexOf(other.method))
  for (const { operation, method, url, payload } of [
    ...additions,
    ...examples.filter(({ method }) => method === 'DELETE').reverse(),
  ]) {
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
    t.ok(
      String(response.statusCode) in operation.responses,
      `${operation.summary}: ${method} ${url} ${response.statusCode} ${response.body}`,
    )
    t.ok(response.statusCode < 300)
  }
  t.equal(sent.size, JSON.stringify(document).match(/"examples?":/g)?.length)
})

t.test('the documentation page loads nothing external and nothing inline', async t => {
  const { body, headers, statusCode } = await app.inject({ url: '/api/docs', headers: { host: 'localhost' } })
  t.equal(statusCode, 200)
  t.match(headers['content-security-policy'], "default-src 'none'; script-src 'self';")
  t.notMatch(body, /<style|<script>|(?:src|href)="(?:https?:)?\/\//)
  for (const [, path = ''] of body.matchAll(/(?:src|href)="([^"]+)"/g)) {
    t.equal((await app.inject({ url: path, headers: { host: 'localhost' } })).statusCode, 200, path)
  }
})

t.test('a host without a license has neither the document, nor the page, nor the API', async t => {
  for (const url of ['/api/openapi.json', '/api/docs', '/api/museums']) {
    const response = await app.inject({ url, headers: { host: 'nobody.test' } })
    t.equal(response.statusCode, 404)
    t.equal(response.json().detail, 'No license found for "nobody.test".')
  }
})

/** The request that an operation's examples describe. */
function exampleOf(path: string, method: string, operation: Operation, sent: Set<unknown>): Example {
  const parameters = operation.parameters?.filter(parameter => 'example' in parameter) ?? []
  for (const parameter of parameters) sent.add(parameter)
  const url = parameters.reduce((url, { name, example }) => url.replace(`{${name}}`, String(example)), path)
  const content = operation.requestBody?.content['application/json']
  if (content !== undefined) sent.add(content)
  const known = (['GET', 'POST', 'PATCH', 'DELETE'] as const).find(known => known === method.toUpperCase())
  if (known === undefined) throw new Error(`${method} is not sent.`)
  return { operation, method: known, url, ...(content !== undefined && { payload: Object(content.example) }) }
}
