import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { seed } from '../../../src/database/migrate.ts'
import { exampleId } from '../../../src/records/fields.ts'
import { kinds } from '../../../src/records/kinds.ts'
import { addUser, build, openTestDatabase, signIn } from '../../support/site.ts'

const database = await openTestDatabase(t)
await seed(database.db)
await addUser(database, { email: 'admin@museum.example', admin: true })
const app = await build(t, { database })
const cookie = await signIn(app, { host: 'localhost', email: 'admin@museum.example' })

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

async function ask(method: Method, url: string, payload?: string, headers: Record<string, string> = {}) {
  const type = payload !== undefined && { 'content-type': 'application/json' }
  return await app.inject({
    method,
    url,
    headers: { host: 'localhost', cookie, ...type, ...headers },
    ...(payload !== undefined && { payload }),
  })
}

const tables = [
  ...['license_types', 'languages', 'platforms', 'licenses', 'license_languages', 'license_platforms', 'museums'],
  ...['groups', 'users', 'user_groups'],
] as const

/** Everything stored. */
async function snapshot(): Promise<unknown> {
  const parts = tables.map(
    table =>
      sql`select ${sql.lit(table)} as name, (select string_agg(records::text, ' ' order by records::text) from ${sql.table(table)} as records) as records`,
  )
  return (await sql`${sql.join(parts, sql` union all `)}`.execute(database.db)).rows
}

/** Text that breaks careless code. */
const hostileText = fc.oneof(
  fc.constantFrom(
    ...['', ' ', ' blank', '\u0000', 'nul\u0000byte', '\ud800', 'lone \udfff surrogate', '\ufffd', '\u2028', 'a\nb'],
    ...['\u202e', '😀'.repeat(255), 'x'.repeat(256), 'x'.repeat(60_000), 'a b', 'a@\u0000b'],
    ...["' or '1'='1", "'; drop table licenses; --", '"; delete from users; --', '<script>alert(1)</script>'],
    ...'$1 {1} \\ % %00 . .. ../../etc/passwd __proto__ constructor null true NaN 0 -1 01 1.0 1e3 ١'.split(' '),
    ...'9223372036854775807 9223372036854775808 99999999999999999999999999 MUSEUM.test a..b .a'.split(' '),
    ...'museum.test:80 [::1] [::g] 256.256.256.256 xn--nxasmq6b müseum.test en-us en_US x toolongtag'.split(' '),
    ...'a@b a@b@c @'.split(' '),
  ),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
)

/** A JSON value of any type. */
const hostileValue = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  fc.jsonValue({ maxDepth: 2 }),
  fc.array(fc.oneof(hostileText, fc.constantFrom('1', '2', '999')), { maxLength: 4 }),
  fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 1.5, 2 ** 53, -0),
  fc.constantFrom<unknown>(
    [],
    {},
    [[]],
    ['1', '1'],
    Array(501).fill('1'),
    { length: 1 },
    { toString: 'x' },
    { $ne: 1 },
  ),
)

/** Asserts that a refusal is a client error with a message. */
function assertRefusal(response: { statusCode: number; body: string }): void {
  if (response.statusCode < 400 || response.statusCode >= 500) {
    throw new Error(`${response.statusCode} ${response.body}`)
  }
  const { detail } = JSON.parse(response.body)
  if (typeof detail !== 'string' || detail.length === 0 || detail.length > 5000) {
    throw new Error(`No sentence: ${detail}`)
  }
}

/** As JSON, with lists whose order has no meaning sorted by id. */
function asKept(field: string, value: unknown): unknown {
  const json: unknown = JSON.parse(JSON.stringify(value))
  return ['platform_ids', 'group_ids'].includes(field) && Array.isArray(json)
    ? json.toSorted((one, other) => Number(one) - Number(other))
    : json
}

for (const kind of kinds) {
  const path = `/api/${kind.plural.replaceAll(' ', '-')}`
  // The demonstration has a record of each kind with the id 1.
  const example: Record<string, unknown> = JSON.parse(JSON.stringify(kind.examples.create).replaceAll(exampleId, '1'))
  const fields = Object.keys(kind.create.properties)

  t.test(`${kind.plural}: an addition is stored exactly, or refused without a trace`, async t => {
    const written = fc.record({ field: fc.constantFrom(...fields), value: hostileValue })
    await fc.assert(
      fc.asyncProperty(written, async ({ field, value }) => {
        const before = await snapshot()
        const response = await ask('POST', path, JSON.stringify({ ...example, [field]: value }))
        if (response.statusCode === 201) {
          const record = response.json()
          if (field in record && !isDeepStrictEqual(record[field], asKept(field, value))) {
            throw new Error(`Kept as ${JSON.stringify(record[field])}`)
          }
          const removed = await ask('DELETE', `${path}/${record.id}`)
          if (removed.statusCode !== 204) throw new Error(removed.body)
        } else assertRefusal(response)
        if (!isDeepStrictEqual(await snapshot(), before)) throw new Error('Something was changed.')
      }),
      { numRuns: 30 },
    )
    t.pass()
  })

  t.test(`${kind.plural}: a change is stored exactly, or refused without a trace`, async t => {
    const id = (await ask('POST', path, JSON.stringify(example))).json().id
    const written = fc.record({
      field: fc.oneof(
        fc.constantFrom(...fields),
        fc.constantFrom('id', 'created_at', 'password_hash', '__proto__', 'constructor', 'admin '),
        hostileText,
      ),
      value: hostileValue,
    })
    await fc.assert(
      fc.asyncProperty(written, async ({ field, value }) => {
        const before = await snapshot()
        // An own property, whatever its name.
        const payload = `{${JSON.stringify(field)}:${JSON.stringify(value)}}`
        const response = await ask('PATCH', `${path}/${id}`, payload)
        if (response.statusCode !== 200) {
          assertRefusal(response)
          if (!isDeepStrictEqual(await snapshot(), before)) throw new Error('Something was changed.')
        } else if (field in response.json() && !isDeepStrictEqual(response.json()[field], asKept(field, value))) {
          throw new Error(`Kept as ${response.body}`)
        }
      }),
      { numRuns: 20, seed: 1 },
    )
    t.equal((await ask('DELETE', `${path}/${id}`)).statusCode, 204)
  })

  t.test(`${kind.plural}: a query or a path can only pass values`, async t => {
    const before = await snapshot()
    const parameters = [...Object.keys(kind.filters), 'sort', 'limit', 'cursor', 'id', '__proto__']
    const cursor = fc
      .array(fc.oneof(hostileText, fc.constantFrom('id', '-id', 'name', '1')), { minLength: 2, maxLength: 4 })
      .map(parts => Buffer.from(JSON.stringify(parts)).toString('base64url'))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...parameters), fc.oneof(hostileText, cursor), async (name, text) => {
        // A lone surrogate cannot be written in a URL, and clients resolve "." and ".." in a path themselves.
        const value = encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'))
        for (const url of [
          `${path}?${name}=${value}`,
          `${path}?${name}=${value}&${name}=${value}`,
          `${path}?sort=-id&${name}=1&cursor=${value}`,
          `${path}/${value.slice(0, 300).replace(/%.?$|^\.\.?$/, '') || '%20'}`,
        ]) {
          const response = await ask('GET', url)
          if (response.statusCode !== 200) assertRefusal(response)
        }
      }),
      { numRuns: 20, seed: 1 },
    )
    t.strictSame(await snapshot(), before)
  })

  t.test(`${kind.plural}: an invalid field is named`, async t => {
    for (const field of fields) {
      const response = await ask('POST', path, JSON.stringify({ ...example, [field]: { a: 1 } }))
      t.equal(response.statusCode, 400)
      t.match(response.json(), { detail: new RegExp(`^${field} must be `), errors: [{ field }] })
    }
    const none = (await ask('POST', path, '{}')).json()
    t.strictSame(
      none.errors.map(({ field }: { field: string }) => field),
      kind.create.required,
    )
    const unknown = await ask('POST', path, JSON.stringify({ ...example, colour: 'red' }))
    t.match(unknown.json(), { detail: '"colour" is not a known field.', errors: [{ field: 'colour' }] })
  })
}

t.test('a body that is not JSON, or not a record, is refused', async t => {
  const before = await snapshot()
  const refuses = async (status: number, payload: string, type = 'application/json') => {
    const response = await ask('POST', '/api/license-types', payload, { 'content-type': type })
    t.equal(response.statusCode, status, `${payload.slice(0, 30)} ${type} ${response.body.slice(0, 300)}`)
    assertRefusal(response)
  }
  const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`field${index}`, 1]))
  for (const payload of [
    ...['', '{', '{"type":"a"', '{"type":"a"}}', '{type:"a"}', "{'type':'a'}", '{"type":"a\u0000"}', '{"type":NaN}'],
    ...['{"type":1e999}', '{"__proto__":{"type":"a"}}', '{"constructor":{"prototype":{"type":"a"}}}', 'null', 'true'],
    ...['1', '"type"', '[]', '[{"type":"a"}]', '['.repeat(30_000), `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    JSON.stringify(many),
  ]) {
    await refuses(400, payload)
  }
  await refuses(413, JSON.stringify({ type: 'x'.repeat(2 ** 20) }))
  await refuses(415, 'type=a', 'application/x-www-form-urlencoded')
  for (const type of ['text/plain', 'application/xml', 'application/jsonx', '', 'nonsense']) {
    await refuses(415, '{"type":"a"}', type)
  }
  t.strictSame(await snapshot(), before)
})

t.test('a body that is not UTF-8 is refused', async t => {
  const payload = Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from('"}')])
  const response = await app.inject({
    method: 'POST',
    url: '/api/license-types',
    headers: { host: 'localhost', cookie, 'content-type': 'application/json' },
    payload,
  })
  t.equal(response.statusCode, 400)
})

t.test('the number of reported errors is bounded', async t => {
  const response = await ask(
    'POST',
    '/api/license-types',
    JSON.stringify(Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}`.repeat(200), 1]))),
  )
  t.match(response.json().detail, /; and 81 more\.$/)
})
