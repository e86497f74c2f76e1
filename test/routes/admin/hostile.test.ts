import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { browse, filledIn } from '../../support/admin-pages.ts'
import { startApi } from '../../support/site.ts'
import { kinds } from '../../../src/records/kinds.ts'

const { app, db, license, adminId, admin, ask, add } = await startApi(t, {
  languages: ['en'],
  museums: ['Arsenal'],
})
const { open, post, formAt, fill } = browse(app, admin)

const hostileText = fc.oneof(
  fc.constantFrom(
    ...['', ' ', ' blank', '\0', 'nul\0byte', '\ufffd', '\u2028', 'a\nb', '\u202e', '😀'.repeat(255), 'x'.repeat(256)],
    ...["' or '1'='1", "'; drop table licenses; --", '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>'],
    ...'none $1 \\ % %00 . .. __proto__ constructor null true on NaN 0 -1 01 1.0 1e3 9223372036854775808'.split(' '),
    ...'2027-13-01T00:00 2027-01-31T12:00 0000-01-01T00:00 275760-09-13T00:00 infinity a..b [::1] en-us a@b@c'.split(
      ' ',
    ),
  ),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
)

/** Everything stored. */
async function snapshot(): Promise<string> {
  const tables = kinds.flatMap(({ table, links }) => [table, ...Object.values(links).map(link => link.table)])
  const parts = [...tables, 'api_tokens'].map(
    table => sql`(select string_agg(r::text, ' ' order by r::text) from ${sql.table(table)} r)`,
  )
  return JSON.stringify((await sql`select ${sql.join(parts)}`.execute(db)).rows)
}

/** Asserts that a page refuses what was sent, as the API does, without markup of the sender. */
function assertRefusal({ statusCode, body, text }: Awaited<ReturnType<typeof post>>): void {
  if (statusCode < 400 || statusCode >= 500) throw new Error(`${statusCode} ${text}`)
  if (/<script|<img/.test(body)) throw new Error(`Markup: ${body}`)
}

for (const kind of [...kinds, { name: 'token', plural: 'tokens', knownBy: 'name' }]) {
  const path = `/admin/${kind.plural.replaceAll(' ', '-')}`

  t.test(`${kind.plural}: a query or a path with hostile values is answered or refused`, async t => {
    const before = await snapshot()
    const names = [
      ...['sort', 'cursor', 'limit', 'find.license_id', `${kind.knownBy}_prefix`, 'license_id', '__proto__'],
      'created_at_from',
    ]
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), hostileText, async (name, text) => {
        const value = encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'))
        for (const url of [
          `${path}?${name}=${value}`,
          `${path}?${name}=${value}&${name}=${value}`,
          `${path}/new?${name}=${value}`,
          `${path}/${value.slice(0, 90).replace(/%.?$|^\.\.?$/, '') || '%20'}`,
          `/admin/audit?${name}=${value}&record_id=${value}`,
        ]) {
          const response = await open(url)
          if (response.statusCode !== 200) assertRefusal(response)
          if (/<script|<img/.test(response.body)) throw new Error(`Markup: ${url}`)
        }
      }),
      { numRuns: 20 },
    )
    t.equal(await snapshot(), before)
  })
}

t.test('a form from another site is refused', async t => {
  const path = `/admin/licenses/${license}`
  const { fields } = await formAt(path)
  const before = await snapshot()
  for (const action of [path, `${path}/remove`, '/admin/tokens/new', `/admin/users/${adminId}/password-link`]) {
    const forged = filledIn(fields, { name: 'Forged', user_id: adminId })
    const response = await post(action, forged, { headers: { 'sec-fetch-site': 'cross-site' } })
    t.match(response, { statusCode: 403, text: /This request came from another site\./ }, action)
  }
  t.equal(await snapshot(), before)
})

t.test('a body that is no form is refused', async t => {
  for (const [type, payload] of [
    ['application/json', '{"name":"x"}'],
    ['text/plain', 'name=x'],
    ['multipart/form-data; boundary=x', '--x--'],
  ] as const) {
    const headers = { host: 'museum.test', cookie: admin, 'content-type': type }
    t.equal((await app.inject({ method: 'POST', url: '/admin/platforms/new', headers, payload })).statusCode, 415)
  }
  const long = await fill('/admin/platforms/new', { name: 'x'.repeat(70_000) })
  t.equal(long.statusCode, 413)
  const none = await app.inject({
    method: 'POST',
    url: '/admin/platforms/new',
    headers: { host: 'museum.test', cookie: admin },
  })
  t.equal(none.statusCode, 400)
})

t.test('a form that is not UTF-8 is refused', async t => {
  const type = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const headers = { host: 'museum.test', cookie: admin, accept: 'text/html', ...type }
  for (const payload of ['name=%FF', 'name=M%E4rz', 'name=%E4%B8', Buffer.from('name=M\xe4rz', 'latin1')]) {
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/admin/platforms/new', headers, payload })
    t.equal(statusCode, 400)
    t.match(body, 'name must be one line of UTF-8 text')
  }
})

t.test('a change without its ETag, or with a made-up one, is refused', async t => {
  const { id } = await add('platforms', { name: 'guarded' })
  for (const etag of ['', '"x"', 'W/"x"', '\0']) {
    t.equal((await fill(`/admin/platforms/${id}`, { name: 'changed', etag })).statusCode, 412)
    t.equal((await fill(`/admin/platforms/${id}/remove`, { etag })).statusCode, 412)
  }
  t.equal((await ask('GET', `platforms/${id}`)).json().name, 'guarded')
})

t.test('a record that is removed meanwhile is missing', async t => {
  const { id } = await add('platforms', { name: 'vanishing' })
  const path = `/admin/platforms/${id}`
  const [change, removal] = [await formAt(path), await formAt(`${path}/remove`)]
  await ask('DELETE', `platforms/${id}`)
  for (const { action, fields } of [change, removal]) {
    t.match(await post(action, filledIn(fields, { name: 'late' })), {
      statusCode: 404,
      text: `There is no platform ${id}.`,
    })
  }
  const user = await add('users', { email: 'vanishing@museum.test', password: 'four doors and an arch' })
  const link = await formAt(`/admin/users/${user.id}`, `/admin/users/${user.id}/password-link`)
  const token = await formAt('/admin/tokens/new')
  await ask('DELETE', `users/${user.id}`)
  t.equal((await post(link.action, link.fields)).statusCode, 404)
  t.match(await post(token.action, filledIn(token.fields, { name: 'late', user_id: user.id })), {
    statusCode: 422,
    text: /user_id names no existing user\./,
  })
})

t.test('a form that is sent twice acts once', async t => {
  const twice = async (url: string, filled: Record<string, string>) => {
    const { action, fields } = await formAt(url)
    const form = filledIn(fields, filled)
    return await Promise.all([post(action, form), post(action, form)])
  }
  const [first, second] = await twice('/admin/museums/new', { name: 'Doubled', license_id: license })
  t.equal(first?.statusCode, 303)
  t.equal(first?.location, second?.location)
  t.equal((await ask('GET', 'museums?name=Doubled')).json().items.length, 1)
  const path = String(first?.location).replace('?saved', '')
  t.strictSame(
    (await twice(path, { name: 'Halved' }))
      .map(({ statusCode }) => statusCode)
      .sort()
      .at(0),
    303,
  )
  t.equal((await fill(path, {})).statusCode, 303)

  const [token, again] = await twice('/admin/tokens/new', { name: 'doubled', user_id: adminId })
  t.match(token?.text, /portico_[\w-]{43}/)
  t.equal(/portico_[\w-]{43}/.exec(token?.text ?? '')?.[0], /portico_[\w-]{43}/.exec(again?.text ?? '')?.[0])
  t.notSame(
    (await fill('/admin/tokens/new', { name: 'doubled', user_id: adminId })).statusCode,
    200,
    'a form of its own',
  )

  const removals = await twice(`${path}/remove`, {})
  t.strictSame(removals.map(({ statusCode }) => statusCode).sort(), [303, 404])
})

t.test('one of ten thousand records is picked by searching for it', async t => {
  await sql`
    insert into licenses (domain, name, type_id)
    select 'host' || n || '.test', 'Host ' || n, (select min(id) from license_types) from generate_series(1, 10000) as n`.execute(
    db,
  )
  const { body, text } = await open('/admin/museums/new')
  t.ok(body.length < 30_000, 'a page does not list them')
  t.match(text, 'Find')
  const found = await fill('/admin/museums/new', { name: 'Far away', 'find.license_id': 'HOST999' })
  t.match(found, { statusCode: 200, text: '“HOST999”: 11 to choose from', body: 'value="Far away"' })
  const [, id = ''] = /<option value="(\d+)">host9999\.test</.exec(found.body) ?? []
  const [path = ''] = (await fill('/admin/museums/new', { name: 'Far away', license_id: id })).location.split('?')
  const page = await open(path)
  t.match(page.body, new RegExp(`<option value="${id}" selected>host9999\\.test<`))
  t.equal((await fill(path, { name: 'Farther away' })).statusCode, 303, 'its license stays')
  t.match((await open('/admin/museums?find.license_id=host999')).body, 'host9999.test')
  t.match((await fill('/admin/museums/new', { 'find.license_id': 'nowhere' })).text, '“nowhere”: 0 to choose from')
  t.match((await open(`/admin/licenses/${id}/remove`)).text, 'Museums: 1 removed with it')
})
