import { Hash } from 'node:crypto'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { seed } from '../../../src/database/migrate.ts'
import { addUser, build, openTestDatabase, signIn } from '../../support/site.ts'

interface Operation {
  operationId: string
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: unknown }> }
  responses: Record<string, unknown>
}

interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}

const database = await openTestDatabase(t)
await seed(database.db)
await addUser(database, { email: 'admin@museum.example', admin: true })
await addUser(database, { email: '<b>me</b>@museum.example' })
const app = await build(t, { database })

async function get(url: string, headers: Record<string, string> = {}) {
  return await app.inject({ url, headers: { host: 'localhost', ...headers } })
}

const { body: text } = await get('/api/openapi.json')
const document: OpenApi = JSON.parse(text)
const operations = Object.values(document.paths).flatMap(path => Object.values(path))

t.test('the OpenAPI document is valid', async t => {
  const { valid, errors } = await new Validator().validate(Object(document))
  t.ok(valid, JSON.stringify(errors))
})

t.test("redocly's recommended rules find nothing in the document", async t => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config })
  t.strictSame(
    problems.map(({ ruleId, message, location: [place] }) => `${ruleId} ${place?.pointer}: ${message}`),
    [],
  )
})

t.test("spectral's rules for OpenAPI find nothing in the document", async t => {
  const linter = new spectral.Spectral()
  linter.setRuleset(Object({ extends: [[rulesets.oas, 'recommended']] }))
  t.strictSame(
    (await linter.run(text)).map(({ code, message, path }) => `${code} ${path.join('/')}: ${message}`),
    [],
  )
})

t.test('the document has both ways to sign in', async t => {
  const { components, security } = Object(document)
  t.match(components.securitySchemes, { session: { in: 'cookie' }, token: { type: 'http', scheme: 'bearer' } })
  t.strictSame(security, [{ session: [] }, { token: [] }])
})

t.test('the document has every route of the API', async t => {
  t.equal(operations.length, 7 * 5 + 2)
  t.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
})

t.test('the schemas of records, of what is sent for them, and of problems have names', async t => {
  const { '/api/license-types': list, '/api/license-types/{id}': one } = document.paths
  for (const [part, name] of [
    [Object(list?.['get']?.responses['200']).content['application/json'], 'LicenseTypePage'],
    [list?.['post']?.requestBody?.content['application/json'], 'LicenseTypeInput'],
    [Object(list?.['post']?.responses['201']).content['application/json'], 'LicenseType'],
    [one?.['patch']?.requestBody?.content['application/merge-patch+json'], 'LicenseTypeChange'],
    [Object(one?.['patch']?.responses['409']).content['application/problem+json'], 'Problem'],
  ] as const) {
    t.strictSame(part.schema, { $ref: `#/components/schemas/${name}` })
    t.hasProp(document.components.schemas, name)
  }
})

t.test('the document states the headers of requests and answers, and no defaults of what is sent', async t => {
  const { '/api/licenses': list, '/api/licenses/{id}': one } = document.paths
  for (const operation of [list?.['get'], one?.['get'], one?.['patch']]) {
    t.match(operation?.responses, { 200: { headers: { ETag: {} } } })
  }
  t.match(list?.['post']?.responses, { 201: { headers: { ETag: {}, Location: {} } } })
  for (const { responses } of operations) {
    t.match(responses, { 401: { headers: { 'WWW-Authenticate': {} } }, 503: { headers: { 'Retry-After': {} } } })
  }
  for (const method of ['get', 'patch', 'delete']) {
    t.ok(one?.[method]?.parameters?.some(({ name }) => name === 'if-match'))
  }
  const { LicenseInput, LicenseChange } = document.components.schemas
  t.match(LicenseInput, { required: ['domain', 'name', 'type_id'] })
  // A generated client would demand fields that have a default.
  t.notMatch(JSON.stringify([LicenseInput, LicenseChange]), '"default"')
})

t.test('no parameter has an example, and no example has the id of a record', async t => {
  for (const { parameters = [] } of operations) {
    for (const parameter of parameters) t.notMatch(JSON.stringify(parameter), /"examples?"/)
  }
  const ids = new Set([...text.matchAll(/"(?:\w+_)?ids?":\[?"(\d+)"/g)].map(([, id]) => id))
  t.equal(ids.size, 1)
  const headers = { cookie: await signIn(app, { host: 'localhost', email: 'admin@museum.example' }) }
  for (const path of Object.keys(document.paths).filter(path => path.endsWith('{id}'))) {
    const url = path.replace('{id}', String([...ids]))
    t.equal((await get(url, headers)).statusCode, 404, url)
  }
})

t.test('the document is hashed and encoded for the first request only', async t => {
  const hashed = t.capture(Hash.prototype, 'update', Hash.prototype.update)
  const payloads = new Set<unknown>()
  const checks = [
    async (app: FastifyInstance) => {
      app.addHook('onSend', async (_request, _reply, payload) => {
        payloads.add(payload)
        return payload
      })
    },
  ]
  const app = await build(t, { database, checks })
  const ask = () => app.inject({ url: '/api/openapi.json', headers: { host: 'localhost' } })
  const { headers, body } = await ask()
  t.equal(body, text)
  hashed()
  t.equal((await ask()).headers.etag, headers.etag)
  t.notOk(hashed().some(({ args: [data] }) => String(data) === body))
  const [payload] = payloads
  t.strictSame([...payloads], [payload])
  t.ok(Buffer.isBuffer(payload))
})

t.test('the documentation page loads nothing external and nothing inline', async t => {
  const { body, headers, statusCode } = await get('/api/docs')
  t.equal(statusCode, 200)
  t.match(headers['content-security-policy'], "default-src 'none'; script-src 'self';")
  t.notMatch(body, /<style|<script>|(?:src|href)="(?:https?:)?\/\//)
  for (const [, path = ''] of body.matchAll(/(?:src|href)="([^"]+)"/g)) {
    t.equal((await get(path)).statusCode, 200, path)
  }
})
