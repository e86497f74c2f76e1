import { sql } from 'kysely'
import t from 'tap'
import { breakTable } from '../../support/broken-database.ts'
import { addLanguage, addLicense, addLicenseType, signIn, startApi } from '../../support/site.ts'

const { database, db, app, license, visitor, ask, add, statusOf, valuesOf } = await startApi(t, {
  languages: ['en', 'de'],
  museums: ['Zeughaus', 'Arsenal', 'Depot'],
})
const otherLicense = await addLicense(database, { domain: 'other.test', languages: ['fr'], museums: ['Louvre'] })
const type = await addLicenseType(database, 'standard')
const nobody = { cookie: '' }
const password = 'four doors and an arch'

/** Asks for the front page of a site. */
async function front(host: string, cookie = '') {
  return await app.inject({ url: '/', headers: { host, cookie, accept: 'application/json' } })
}

t.test('adding, changing and removing a license takes effect at once', async t => {
  t.equal((await front('new.test')).statusCode, 404)
  const { id: typeId } = await add('license-types', { type: 'temporary' })
  const added = await ask('POST', 'licenses', { payload: { domain: 'new.test', name: 'New', type_id: typeId } })
  const { id, created_at: createdAt, ...rest } = added.json()
  t.match(added, { statusCode: 201, headers: { location: `/api/licenses/${id}` } })
  t.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.match(rest, { domain: 'new.test', name: 'New', protected: false, type_id: typeId })
  t.match(rest, { language_ids: [], platform_ids: [] })
  t.equal((await front('new.test')).json().license.name, 'New')

  const stale = { 'if-match': String(added.headers.etag) }
  const changed = await ask('PATCH', `licenses/${id}`, { headers: stale, payload: { name: 'Newer' } })
  t.equal(changed.statusCode, 200)
  t.equal((await front('new.test')).json().license.name, 'Newer')
  t.equal(await statusOf('PATCH', `licenses/${id}`, { headers: stale, payload: { name: 'Newest' } }), 412)
  t.equal(await statusOf('DELETE', `licenses/${id}`, { headers: stale }), 412)
  t.equal((await front('new.test')).json().license.name, 'Newer')

  const removed = await ask('DELETE', `licenses/${id}`, { headers: { 'if-match': String(changed.headers.etag) } })
  t.strictSame([removed.statusCode, removed.body], [204, ''])
  t.equal((await front('new.test')).statusCode, 404)
  t.equal(await statusOf('DELETE', `licenses/${id}`), 404)
})

t.test('a license that moves to another domain is served there and no longer at the old one', async t => {
  const { id } = await add('licenses', { domain: 'before.test', name: 'Mover', type_id: type })
  const statuses = async () => [(await front('before.test')).statusCode, (await front('after.test')).statusCode]
  t.strictSame(await statuses(), [200, 404])
  await ask('PATCH', `licenses/${id}`, { payload: { domain: 'after.test' } })
  t.strictSame(await statuses(), [404, 200])
})

t.test('a site has the languages of its license, in order, at once', async t => {
  const [de, en] = [await addLanguage(database, 'de'), await addLanguage(database, 'en')]
  const { id, updated_at: before } = await add('licenses', { domain: 'spoken.test', name: 'Spoken', type_id: type })
  for (const [ids, codes] of [
    [
      [de, en],
      ['de', 'en'],
    ],
    [[en], ['en']],
    [[], []],
  ]) {
    const changed = (await ask('PATCH', `licenses/${id}`, { payload: { language_ids: ids } })).json()
    t.strictSame(changed.language_ids, ids)
    t.not(changed.updated_at, before, 'its languages alone count as a change')
    const { languages } = (await front('spoken.test')).json()
    t.strictSame(
      languages.map(({ code }: { code: string }) => code),
      codes,
    )
  }
})

t.test('an empty change leaves a record as it was', async t => {
  const { headers, body } = await ask('GET', `licenses/${license}`)
  const response = await ask('PATCH', `licenses/${license}`, { payload: {} })
  t.strictSame([response.statusCode, response.body, response.headers.etag], [200, body, headers.etag])
})

t.test('a change may be sent as a merge patch', async t => {
  const { id } = await add('platforms', { name: 'patched' })
  const headers = { 'content-type': 'application/merge-patch+json' }
  const response = await ask('PATCH', `platforms/${id}`, { headers, payload: '{"name":"merged"}' })
  t.strictSame(response.json(), { id, name: 'merged' })
})

t.test('an added user can sign in, and their password is never shown', async t => {
  const user = { host: 'museum.test', email: 'new@museum.test' }
  const added = await ask('POST', 'users', { payload: { email: user.email, password } })
  const { id } = added.json()
  t.strictSame(added.json(), { id, email: user.email, admin: false, group_ids: [] })
  const cookie = await signIn(app, { ...user, password })
  t.equal(await statusOf('GET', 'users', { cookie }), 403)
  await ask('PATCH', `users/${id}`, { payload: { admin: true } })
  t.equal(await statusOf('GET', 'users', { cookie }), 200)
  await ask('PATCH', `users/${id}`, { payload: { password: 'another arch and no door' } })
  t.equal(await statusOf('GET', 'users', { cookie }), 401)
  await signIn(app, { ...user, password: 'another arch and no door' })
  const changed = await ask('PATCH', `users/${id}`, { payload: { email: 'newer@museum.test' } })
  for (const { body } of [added, changed, await ask('GET', 'users'), await ask('GET', `users/${id}`)]) {
    t.notMatch(body, /password|argon2|hash/)
  }
})

t.test("a user who joins a group may enter its license's site at once", async t => {
  const closed = await addLicense(database, { domain: 'closed.test', protected: true })
  const { id: group } = await add('groups', { license_id: closed, name: 'Staff' })
  const { id } = await add('users', { email: 'staff@museum.test', password })
  const cookie = await signIn(app, { host: 'closed.test', email: 'staff@museum.test', password })
  t.equal((await front('closed.test', cookie)).statusCode, 403)
  await ask('PATCH', `users/${id}`, { payload: { group_ids: [group] } })
  t.equal((await front('closed.test', cookie)).statusCode, 200)
  await ask('DELETE', `groups/${group}`)
  t.equal((await front('closed.test', cookie)).statusCode, 403)
})

t.test("everybody can read the current license's languages, museums and platforms", async t => {
  for (const cookie of ['', visitor]) {
    t.strictSame(await valuesOf('museums', 'name', cookie), ['Zeughaus', 'Arsenal', 'Depot'])
    const sorted = await valuesOf(`museums?license_id=${license}&sort=name`, 'name', cookie)
    t.strictSame(sorted, ['Arsenal', 'Depot', 'Zeughaus'])
    t.strictSame(await valuesOf('languages', 'code', cookie), ['en', 'de'])
    t.strictSame((await ask('GET', 'platforms', { cookie })).json(), { items: [], next: null })
    const [museum] = (await ask('GET', 'museums?name=Depot', { cookie })).json().items
    t.strictSame((await ask('GET', `museums/${museum.id}`, { cookie })).json(), museum)
  }
})

t.test("only admins can read another license's records, or learn which there are", async t => {
  const [louvre] = await valuesOf(`museums?license_id=${otherLicense}&name=Louvre`, 'id')
  for (const path of [
    `museums?license_id=${otherLicense}`,
    `museums/${String(louvre)}`,
    'museums/99999',
    `languages/${await addLanguage(database, 'fr')}`,
    `languages?license_id=${otherLicense}`,
  ]) {
    t.equal(await statusOf('GET', path, nobody), 401, path)
    t.equal(await statusOf('GET', path, { cookie: visitor }), 403, path)
  }
})

t.test('signing in for an admin page leads back to it', async t => {
  const page = { ...nobody, headers: { accept: 'text/html' } }
  const back = '<a href="/login?next=%2Fapi%2Fusers%3Flimit%3D2">Sign in</a>'
  t.match((await ask('GET', 'users?limit=2', page)).body, back)
  t.match((await ask('DELETE', 'users/1', page)).body, '<a href="/login">Sign in</a>')
})

t.test("another site cannot make changes in an admin's name", async t => {
  const headers = { origin: 'https://evil.test' }
  t.equal(await statusOf('POST', 'platforms', { headers, payload: { name: 'evil' } }), 403)
  t.strictSame(await valuesOf('platforms?name=evil', 'id'), [])
})

for (const [what, cursor] of [
  ['not base64', '~'],
  ['not JSON', 'AAAA'],
  ['not a list', written({ sort: 'name' })],
  ['for another order', written(['-name', 'a', '1'])],
  ['short', written(['name', 'a'])],
  ['of the wrong types', written(['name', 1, '1'])],
  ['after an invalid id', written(['name', 'a', '1 or 1=1'])],
  ['after an id beyond bigint', written(['name', 'a', '9223372036854775808'])],
  ['with a NUL', written(['name', 'a\u0000', '1'])],
  ['with a lone surrogate', written(['name', '\ud800', '1'])],
  ['too long', written(['name', 'a'.repeat(3000), '1'])],
] as const) {
  t.test(`a cursor that is ${what} is refused`, async t => {
    const response = await ask('GET', `museums?sort=name&cursor=${cursor}`)
    t.equal(response.statusCode, 400)
    t.match(response.json(), { errors: [{ field: 'cursor', message: /^cursor must / }] })
  })
}

t.test('a cursor in order of id must state the same id twice', async t => {
  t.equal(await statusOf('GET', `museums?cursor=${written(['id', '1', '2'])}`), 400)
  t.equal(await statusOf('GET', `museums?cursor=${written(['id', '1', '1'])}`), 200)
})

/** A made-up cursor. */
function written(parts: unknown): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

t.test('records that are added or removed between two parts cause no duplicates or gaps', async t => {
  const id = await addLicense(database, { domain: 'moving.test', museums: ['b', 'd', 'f', 'h'] })
  const path = `museums?license_id=${id}&sort=name`
  const { items, next } = (await ask('GET', `${path}&limit=2`)).json()
  await ask('DELETE', `museums/${items[1].id}`)
  await add('museums', { license_id: id, name: 'a' })
  await add('museums', { license_id: id, name: 'e' })
  t.strictSame(await valuesOf(`${path}&limit=9&cursor=${next}`, 'name'), ['e', 'f', 'h'])
})

t.test('filters by links narrow a list, also together with others', async t => {
  const en = await addLanguage(database, 'en')
  const { id: group } = await add('groups', { license_id: license, name: 'Narrow' })
  const { id: user } = await add('users', { email: 'narrow@museum.test', password, group_ids: [group] })
  const { id: platform } = await add('platforms', { name: 'narrow' })
  await ask('PATCH', `licenses/${license}`, { payload: { platform_ids: [platform] } })
  for (const [path, ids] of [
    [`licenses?platform_id=${platform}`, [license]],
    [`licenses?domain=museum.test&type_id=${type}&name=Museum&language_id=${en}&platform_id=${platform}`, [license]],
    [`platforms?license_id=${license}`, [platform]],
    [`groups?name=Narrow&license_id=${otherLicense}`, []],
    [`users?group_id=${group}`, [user]],
  ] as const) {
    t.strictSame(await valuesOf(path, 'id'), ids, path)
  }
})

t.test('an unchanged record or list is not sent twice, and a changed one is', async t => {
  const added = await ask('POST', 'platforms', { payload: { name: 'conditional' } })
  const one = `platforms/${added.json().id}`
  const { headers } = await ask('GET', one)
  t.equal(headers.etag, added.headers.etag, 'the ETag is the same whatever the method')
  t.equal((await ask('HEAD', one)).headers.etag, headers.etag)
  const list = 'platforms?sort=name'
  const listed = await ask('GET', list)
  const again = async (path: string, etag: unknown) =>
    await statusOf('GET', path, { headers: { 'if-none-match': String(etag) } })
  const statuses = async () => [await again(one, headers.etag), await again(list, listed.headers.etag)]
  t.strictSame(await statuses(), [304, 304])
  await ask('PATCH', one, { payload: { name: 'unconditional' } })
  t.strictSame(await statuses(), [200, 200])
})

t.test('every form of condition is honoured', async t => {
  const added = await ask('POST', 'platforms', { payload: { name: 'held' } })
  const etag = String(added.headers.etag)
  const path = `platforms/${added.json().id}`
  for (const [headers, status] of [
    [{ 'if-match': '*' }, 200],
    [{ 'if-match': etag }, 200],
    [{ 'if-match': `"other", ${etag}` }, 200],
    [{ 'if-match': `W/${etag}` }, 412],
    [{ 'if-match': '"other"' }, 412],
    [{ 'if-match': etag.slice(1, -1) }, 412],
    [{ 'if-match': '' }, 412],
    [{ 'if-none-match': '"other"' }, 200],
    [{ 'if-none-match': etag }, 412],
    [{ 'if-none-match': `"other",W/${etag}` }, 412],
    [{ 'if-none-match': '*' }, 412],
  ] as const) {
    t.equal(await statusOf('PATCH', path, { headers, payload: { name: 'held' } }), status, JSON.stringify(headers))
  }
  t.equal(await statusOf('GET', path, { headers: { 'if-match': '"other"' } }), 412)
})

t.test('only one of several concurrent changes to the same state of a record, or of its links, succeeds', async t => {
  const names = ['One', 'Two', 'Three', 'Four']
  const groups = await Promise.all(names.map(name => add('groups', { license_id: license, name })))
  for (const [path, payload, changes] of [
    ['platforms', { name: 'raced' }, names.map(name => ({ name }))],
    ['users', { email: 'raced@museum.test', password }, groups.map(({ id }) => ({ group_ids: [id] }))],
  ] as const) {
    const added = await ask('POST', path, { payload })
    const headers = { 'if-match': String(added.headers.etag) }
    const change = (payload: object) => statusOf('PATCH', `${path}/${added.json().id}`, { headers, payload })
    t.strictSame((await Promise.all(changes.map(change))).sort(), [200, 412, 412, 412])
  }
})

for (const [what, code] of [
  ['deadlocks with another', '40P01'],
  ['cannot be serialised', '40001'],
] as const) {
  t.test(`a change that ${what} may be sent again later`, async t => {
    const { id: group } = await add('groups', { license_id: license, name: 'Contested' })
    const change = () => ask('PATCH', `groups/${group}`, { payload: { name: 'Changed' } })
    const mend = await breakTable(database, 'groups', code)
    t.match(await change(), { statusCode: 503, headers: { 'retry-after': '2' } })
    await mend()
    t.equal((await change()).statusCode, 200)
  })
}

t.test('the only admin cannot be removed or demoted, not even by two admins at the same time', async t => {
  await db.updateTable('users').set({ admin: false }).where('email', '<>', 'admin@museum.test').execute()
  const [only] = (await ask('GET', 'users?email=admin%40museum.test')).json().items
  const demote = async (id: string) => await ask('PATCH', `users/${id}`, { payload: { admin: false } })
  const detail = 'This user is the only admin. Make somebody else an admin first.'
  t.match((await ask('DELETE', `users/${only.id}`)).json(), { status: 409, detail })
  t.match((await demote(only.id)).json(), { status: 409, detail })
  t.equal(await statusOf('PATCH', `users/${only.id}`, { payload: { admin: true, group_ids: [] } }), 200)
  t.equal((await demote('99999')).statusCode, 404)
  const { id: another } = await add('users', { email: 'another@museum.test', password, admin: true })
  const demoted = await Promise.all([demote(only.id), demote(another)])
  t.strictSame(demoted.map(({ statusCode }) => statusCode).sort(), [200, 409])
  await db.updateTable('users').set({ admin: true }).where('id', '=', only.id).execute()
  app.entityCache.change('users', only.id)
  t.equal(await statusOf('DELETE', `users/${another}`), 204)
})

t.test('a license without a type can be read, but a change cannot leave it without one', async t => {
  const id = await addLicense(database, { domain: 'typeless.test', type: null })
  t.equal((await ask('GET', `licenses/${id}`)).json().type_id, null)
  t.equal(await statusOf('PATCH', `licenses/${id}`, { payload: { type_id: null } }), 400)
})

t.test('what the fields of a record cannot hold is refused by the name of the field', async t => {
  const a = { domain: 'a.test', name: 'A', type_id: type }
  const b = { email: 'a@b.test', password }
  for (const [path, payload, status, field, message] of [
    ['licenses', { ...a, language_ids: ['1', '1'] }, 400, 'language_ids', 'must not contain the same item twice'],
    ['licenses', { ...a, language_ids: Array(501).fill('1') }, 400, 'language_ids', 'must have at most 500 items'],
    ['licenses', { ...a, language_ids: ['1', 'x'] }, 400, 'language_ids.1', 'must be an id'],
    ['users', { ...b, password: 'short' }, 400, 'password', 'must have at least 8 characters'],
    ['users', { ...b, password: 'x'.repeat(1025) }, 400, 'password', 'must have at most 1024 characters'],
    ['users', { ...b, email: 'e\u0301@b.test' }, 400, 'email', "must be an e-mail address, in Unicode's normal form C"],
    ['license-types', { type: 'standard' }, 409, 'type', 'is taken'],
    ['languages', { code: 'en', name: 'English' }, 409, 'code', 'is taken'],
    ['users', { ...b, email: 'ADMIN@museum.test' }, 409, 'email', 'is taken'],
    ['licenses', { ...a, type_id: '99999' }, 422, 'type_id', 'names no existing license type'],
    ['licenses', { ...a, language_ids: ['99999'] }, 422, 'language_ids', 'names no existing language'],
    ['licenses', { ...a, platform_ids: ['9223372036854775807'] }, 422, 'platform_ids', 'names no existing platform'],
    ['museums', { license_id: '99999', name: 'A' }, 422, 'license_id', 'names no existing license'],
    ['groups', { license_id: '99999', name: 'A' }, 422, 'license_id', 'names no existing license'],
    ['users', { ...b, group_ids: ['99999'] }, 422, 'group_ids', 'names no existing group'],
  ] as const) {
    const refusal = (await ask('POST', path, { payload })).json()
    t.match(refusal, { status, detail: status === 409 ? ` has this ${field}.` : `${field} ${message}` })
    t.match(refusal.errors, [{ field, message: `${field} ${message}` }])
  }
  t.strictSame(await valuesOf('licenses?domain=a.test', 'id'), [])
  t.strictSame(await valuesOf('users?email=a%40b.test', 'id'), [])
})

t.test('a unique value cannot be changed into a duplicate, and an address is found whatever its capitals', async t => {
  const { id } = await add('license-types', { type: 'second' })
  t.equal(await statusOf('PATCH', `license-types/${id}`, { payload: { type: 'standard' } }), 409)
  t.equal((await ask('GET', `license-types/${id}`)).json().type, 'second')
  t.strictSame(await valuesOf('users?email=ADMIN%40Museum.test', 'email'), ['admin@museum.test'])
})

t.test('a record that others refer to is not removed', async t => {
  for (const [path, by] of [
    [`license-types/${type}`, 'licenses'],
    [`languages/${await addLanguage(database, 'en')}`, 'license languages'],
  ] as const) {
    t.match((await ask('DELETE', path)).json(), { status: 409, detail: `${by} refer to it.` })
    t.equal(await statusOf('GET', path), 200)
  }
})

t.test('a missing record is a 404, and unknown paths and methods are answered as outside the API', async t => {
  const none = 'There is no museum 9223372036854775807.'
  for (const [method, path, detail] of [
    ['GET', 'museums/9223372036854775807', none],
    ['PATCH', 'museums/9223372036854775807', none],
    ['DELETE', 'museums/9223372036854775807', none],
    ['GET', 'nothing', 'No route found for "GET /api/nothing"'],
    ['GET', 'museums/1/2', 'No route found for "GET /api/museums/1/2"'],
    ['PATCH', 'museums/', 'No route found for "PATCH /api/museums/"'],
  ] as const) {
    const payload = method === 'PATCH' ? { name: 'x' } : undefined
    t.match((await ask(method, path, { payload })).json(), { status: 404, detail })
  }
  const slashed = await ask('GET', 'museums/?limit=1')
  t.strictSame([slashed.statusCode, slashed.headers.location], [301, 'http://museum.test/api/museums?limit=1'])
  const wrong = 'No route found for "PUT /api/museums/1": Method Not Allowed (Allow: GET, PATCH, DELETE)'
  t.match((await ask('PUT', 'museums/1')).json(), { status: 405, detail: wrong })
})

t.test("violating a constraint that is not Portico's is an error of the server, not of the client", async t => {
  await sql`create unique index platforms_lower_name on platforms (lower(name))`.execute(db)
  await add('platforms', { name: 'lower' })
  t.equal(await statusOf('POST', 'platforms', { payload: { name: 'LOWER' } }), 500)
  await sql`drop index platforms_lower_name`.execute(db)
  await sql`alter table platforms add constraint no_odd_names check (name <> 'odd')`.execute(db)
  t.equal(await statusOf('POST', 'platforms', { payload: { name: 'odd' } }), 500)
})
