import { sql } from 'kysely'
import t from 'tap'
import { asking } from '../../support/api.ts'
import { build } from '../../support/build.ts'
import { addLanguage, addLicense, addLicenseType, addUser } from '../../support/records.ts'
import { signIn } from '../../support/sign-in.ts'
import { openTestDatabase } from '../../support/test-database.ts'

const database = await openTestDatabase(t)
const { db } = database
const license = await addLicense(database, {
  domain: 'museum.test',
  languages: ['en', 'de'],
  museums: ['Zeughaus', 'Arsenal', 'Depot'],
})
const otherLicense = await addLicense(database, { domain: 'other.test', languages: ['fr'], museums: ['Louvre'] })
const type = await addLicenseType(database, 'standard')
await addUser(database, { email: 'admin@museum.test', admin: true })
await addUser(database, { email: 'visitor@museum.test', licenses: [license] })

const app = await build(t, { database })
const admin = await signIn(app, { host: 'museum.test', email: 'admin@museum.test' })
const visitor = await signIn(app, { host: 'museum.test', email: 'visitor@museum.test' })

const ask = asking(app, admin)
const nobody = { cookie: '' }
const password = 'four doors and an arch'

async function add(path: string, payload: object): Promise<string> {
  const response = await ask('POST', path, { payload })
  if (response.statusCode !== 201) throw new Error(response.body)
  return response.json().id
}

t.test('adding, changing and removing a license takes effect at once', async t => {
  const front = () => app.inject({ url: '/', headers: { host: 'new.test', accept: 'application/json' } })
  t.equal((await front()).statusCode, 404)
  const { id: typeId } = (await ask('POST', 'license-types', { payload: { type: 'temporary' } })).json()
  const added = await ask('POST', 'licenses', { payload: { domain: 'new.test', name: 'New', type_id: typeId } })
  t.equal(added.statusCode, 201)
  const { id, created_at: createdAt, ...rest } = added.json()
  t.equal(added.headers.location, `/api/licenses/${id}`)
  t.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.match(rest, {
    domain: 'new.test',
    name: 'New',
    protected: false,
    type_id: typeId,
    language_ids: [],
    platform_ids: [],
  })
  t.equal((await front()).json().license.name, 'New')

  const stale = { 'if-match': String(added.headers.etag) }
  const changed = await ask('PATCH', `licenses/${id}`, { headers: stale, payload: { name: 'Newer' } })
  t.equal(changed.statusCode, 200)
  t.equal((await front()).json().license.name, 'Newer')
  t.equal((await ask('PATCH', `licenses/${id}`, { headers: stale, payload: { name: 'Newest' } })).statusCode, 412)
  t.equal((await ask('DELETE', `licenses/${id}`, { headers: stale })).statusCode, 412)
  t.equal((await front()).json().license.name, 'Newer')

  const removed = await ask('DELETE', `licenses/${id}`, { headers: { 'if-match': String(changed.headers.etag) } })
  t.equal(removed.statusCode, 204)
  t.equal(removed.body, '')
  t.equal((await front()).statusCode, 404)
  t.equal((await ask('DELETE', `licenses/${id}`)).statusCode, 404)
})

t.test('a license that moves to another domain is served there and no longer at the old one', async t => {
  const id = await add('licenses', { domain: 'before.test', name: 'Mover', type_id: type })
  const statusOf = async (host: string) => (await app.inject({ url: '/', headers: { host } })).statusCode
  t.strictSame([await statusOf('before.test'), await statusOf('after.test')], [200, 404])
  await ask('PATCH', `licenses/${id}`, { payload: { domain: 'after.test' } })
  t.strictSame([await statusOf('before.test'), await statusOf('after.test')], [404, 200])
})

t.test('a site has the languages of its license, in order, at once', async t => {
  const [de, en] = [await addLanguage(database, 'de'), await addLanguage(database, 'en')]
  const id = await add('licenses', { domain: 'spoken.test', name: 'Spoken', type_id: type, language_ids: [de, en] })
  const languages = async () =>
    (await app.inject({ url: '/', headers: { host: 'spoken.test', accept: 'application/json' } }))
      .json()
      .languages.map(({ code }: { code: string }) => code)
  t.strictSame(await languages(), ['de', 'en'])
  const changed = await ask('PATCH', `licenses/${id}`, { payload: { language_ids: [en] } })
  t.strictSame(changed.json().language_ids, [en])
  t.strictSame(await languages(), ['en'])
  await ask('PATCH', `licenses/${id}`, { payload: { language_ids: [] } })
  t.strictSame(await languages(), [])
})

t.test('changing only the languages of a license updates its updated_at', async t => {
  const id = await add('licenses', { domain: 'touched.test', name: 'Touched', type_id: type })
  const before = (await ask('GET', `licenses/${id}`)).json()
  const after = (
    await ask('PATCH', `licenses/${id}`, { payload: { language_ids: [await addLanguage(database, 'fr')] } })
  ).json()
  t.not(after.updated_at, before.updated_at)
})

t.test('an empty change leaves a record as it was', async t => {
  const { headers, body } = await ask('GET', `licenses/${license}`)
  const response = await ask('PATCH', `licenses/${license}`, { payload: {} })
  t.strictSame([response.statusCode, response.body, response.headers.etag], [200, body, headers.etag])
})

t.test('a change may be sent as a merge patch', async t => {
  const id = await add('platforms', { name: 'patched' })
  const response = await ask('PATCH', `platforms/${id}`, {
    headers: { 'content-type': 'application/merge-patch+json' },
    payload: '{"name":"merged"}',
  })
  t.strictSame(response.json(), { id, name: 'merged' })
})

t.test('an added user can sign in, and their password is never shown', async t => {
  const added = await ask('POST', 'users', {
    payload: { email: 'new@museum.test', password },
  })
  const { id } = added.json()
  t.strictSame(added.json(), { id, email: 'new@museum.test', admin: false, group_ids: [] })
  const cookie = await signIn(app, {
    host: 'museum.test',
    email: 'new@museum.test',
    password,
  })
  t.equal((await ask('GET', 'users', { cookie })).statusCode, 403)

  await ask('PATCH', `users/${id}`, { payload: { admin: true } })
  t.equal((await ask('GET', 'users', { cookie })).statusCode, 200)

  await ask('PATCH', `users/${id}`, { payload: { password: 'another arch and no door' } })
  t.equal((await ask('GET', 'users', { cookie })).statusCode, 401)
  await signIn(app, { host: 'museum.test', email: 'new@museum.test', password: 'another arch and no door' })
  for (const { body } of [
    added,
    await ask('GET', 'users'),
    await ask('GET', `users/${id}`),
    await ask('PATCH', `users/${id}`, { payload: { email: 'newer@museum.test' } }),
  ]) {
    t.notMatch(body, /password|argon2|hash/)
  }
})

t.test("a user who joins a group may enter its license's site at once", async t => {
  const closed = await addLicense(database, { domain: 'closed.test', protected: true })
  const group = await add('groups', { license_id: closed, name: 'Staff' })
  const { id } = (await ask('POST', 'users', { payload: { email: 'staff@museum.test', password } })).json()
  const cookie = await signIn(app, {
    host: 'closed.test',
    email: 'staff@museum.test',
    password,
  })
  const enter = async () => (await app.inject({ url: '/', headers: { host: 'closed.test', cookie } })).statusCode
  t.equal(await enter(), 403)
  await ask('PATCH', `users/${id}`, { payload: { group_ids: [group] } })
  t.equal(await enter(), 200)
  await ask('DELETE', `groups/${group}`)
  t.equal(await enter(), 403)
})

t.test("everybody can read the current license's languages, museums and platforms", async t => {
  for (const cookie of ['', visitor]) {
    t.strictSame(namesOf(await ask('GET', 'museums', { cookie })), ['Zeughaus', 'Arsenal', 'Depot'])
    t.strictSame(namesOf(await ask('GET', `museums?license_id=${license}&sort=name`, { cookie })), [
      'Arsenal',
      'Depot',
      'Zeughaus',
    ])
    t.strictSame(
      (await ask('GET', 'languages', { cookie })).json().items.map(({ code }: { code: string }) => code),
      ['en', 'de'],
    )
    t.strictSame((await ask('GET', 'platforms', { cookie })).json(), { items: [], next: null })
    const {
      items: [museum],
    } = (await ask('GET', 'museums?name=Depot', { cookie })).json()
    t.strictSame((await ask('GET', `museums/${museum.id}`, { cookie })).json(), museum)
  }
})

t.test("only admins can read another license's records, or learn which there are", async t => {
  const {
    items: [louvre],
  } = (await ask('GET', `museums?license_id=${otherLicense}`)).json()
  t.equal(louvre.name, 'Louvre')
  for (const path of [
    `museums?license_id=${otherLicense}`,
    `museums/${louvre.id}`,
    'museums/99999',
    `languages/${await addLanguage(database, 'fr')}`,
    `languages?license_id=${otherLicense}`,
  ]) {
    t.equal((await ask('GET', path, nobody)).statusCode, 401, path)
    t.equal((await ask('GET', path, { cookie: visitor })).statusCode, 403, path)
  }
})

for (const path of ['license-types', 'licenses', 'groups', 'users']) {
  t.test(`only admins can read ${path}`, async t => {
    for (const [method, url] of [
      ['GET', path],
      ['GET', `${path}/1`],
      ['HEAD', path],
    ] as const) {
      const response = await ask(method, url, nobody)
      t.equal(response.statusCode, 401)
      t.match(response.headers['www-authenticate'], 'museum.test')
      t.match(response.headers.vary, 'Cookie')
      t.equal((await ask(method, url, { cookie: visitor })).statusCode, 403)
      t.not((await ask(method, url)).statusCode, 403)
    }
  })
}

t.test('signing in for an admin page leads back to it', async t => {
  t.match(
    (await ask('GET', 'users?limit=2', { ...nobody, headers: { accept: 'text/html' } })).body,
    '<a href="/login?next=%2Fapi%2Fusers%3Flimit%3D2">Sign in</a>',
  )
  t.match(
    (await ask('DELETE', 'users/1', { ...nobody, headers: { accept: 'text/html' } })).body,
    '<a href="/login">Sign in</a>',
  )
})

for (const path of ['license-types', 'languages', 'platforms', 'licenses', 'museums', 'groups', 'users']) {
  t.test(`only admins can change ${path}, and others get 401 or 403 even for malformed requests`, async t => {
    for (const [method, url] of [
      ['POST', path],
      ['PATCH', `${path}/1`],
      ['DELETE', `${path}/1`],
    ] as const) {
      for (const payload of ['{}', '{', '{"id":"1"}']) {
        const headers = { 'content-type': 'application/json' }
        t.equal((await ask(method, url, { headers, payload, ...nobody })).statusCode, 401)
        t.equal((await ask(method, url, { headers, payload, cookie: visitor })).statusCode, 403)
      }
    }
  })
}

t.test("another site cannot make changes in an admin's name", async t => {
  t.equal(
    (await ask('POST', 'platforms', { headers: { origin: 'https://evil.test' }, payload: { name: 'evil' } }))
      .statusCode,
    403,
  )
  t.strictSame((await ask('GET', 'platforms?name=evil')).json().items, [])
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
  t.equal((await ask('GET', `museums?cursor=${written(['id', '1', '2'])}`)).statusCode, 400)
  t.equal((await ask('GET', `museums?cursor=${written(['id', '1', '1'])}`)).statusCode, 200)
})

t.test('lists of references and passwords are bounded', async t => {
  const license = { domain: 'a.test', name: 'A', type_id: type }
  for (const [path, payload, message] of [
    ['licenses', { ...license, language_ids: ['1', '1'] }, 'language_ids must not contain the same item twice'],
    ['licenses', { ...license, language_ids: Array(501).fill('1') }, 'language_ids must have at most 500 items'],
    ['licenses', { ...license, language_ids: ['1', 'x'] }, 'language_ids.1 must be an id'],
    ['users', { email: 'a@b.test', password: 'short' }, 'password must have at least 8 characters'],
    ['users', { email: 'a@b.test', password: 'x'.repeat(1025) }, 'password must have at most 1024 characters'],
  ] as const) {
    const response = await ask('POST', path, { payload })
    t.equal(response.statusCode, 400)
    t.ok(
      response.json().errors.some((error: { message: string }) => error.message.startsWith(message)),
      response.body,
    )
  }
})

t.test('records that are added or removed between two parts cause no duplicates or gaps', async t => {
  const id = await addLicense(database, { domain: 'moving.test', museums: ['b', 'd', 'f', 'h'] })
  const {
    items: [, second],
    next,
  } = (await ask('GET', `museums?license_id=${id}&sort=name&limit=2`)).json()
  await ask('DELETE', `museums/${second.id}`)
  await add('museums', { license_id: id, name: 'a' })
  await add('museums', { license_id: id, name: 'e' })
  t.strictSame(namesOf(await ask('GET', `museums?license_id=${id}&sort=name&limit=9&cursor=${next}`)), ['e', 'f', 'h'])
})

t.test('each filter narrows a list', async t => {
  const en = await addLanguage(database, 'en')
  const group = await add('groups', { license_id: license, name: 'Narrow' })
  const { id: user } = (
    await ask('POST', 'users', {
      payload: { email: 'narrow@museum.test', password, group_ids: [group] },
    })
  ).json()
  const platform = await add('platforms', { name: 'narrow' })
  await ask('PATCH', `licenses/${license}`, { payload: { platform_ids: [platform] } })
  for (const [path, ids] of [
    ['license-types?type=standard', [type]],
    ['licenses?domain=museum.test', [license]],
    [`licenses?platform_id=${platform}`, [license]],
    [`licenses?domain=museum.test&type_id=${type}&name=Museum&language_id=${en}&platform_id=${platform}`, [license]],
    ['licenses?domain=nobody.test', []],
    ['languages?code=en', [en]],
    [`platforms?license_id=${license}`, [platform]],
    ['groups?name=Narrow', [group]],
    [`groups?name=Narrow&license_id=${otherLicense}`, []],
    [`users?group_id=${group}`, [user]],
    ['users?email=narrow%40museum.test', [user]],
  ] as const) {
    t.strictSame(
      (await ask('GET', path)).json().items.map(({ id }: { id: string }) => id),
      ids,
      path,
    )
  }
})

t.test('_locale chooses the language of a list, as on any page', async t => {
  const { statusCode, headers } = await ask('GET', 'museums?_locale=de')
  t.strictSame([statusCode, headers['content-language']], [200, 'de'])
})

t.test('an unchanged record or list is not sent twice, and a changed one is', async t => {
  const id = await add('platforms', { name: 'conditional' })
  const paths = [`platforms/${id}`, 'platforms?sort=name']
  const etags = await Promise.all(paths.map(async path => String((await ask('GET', path)).headers.etag)))
  const statuses = () =>
    Promise.all(
      paths.map(
        async (path, index) =>
          (await ask('GET', path, { headers: { 'if-none-match': String(etags[index]) } })).statusCode,
      ),
    )
  t.strictSame(await statuses(), [304, 304])
  await ask('PATCH', `platforms/${id}`, { payload: { name: 'unconditional' } })
  t.strictSame(await statuses(), [200, 200])
})

t.test('a record has the same ETag whatever the method', async t => {
  const added = await ask('POST', 'platforms', { payload: { name: 'same' } })
  const { id } = added.json()
  t.equal((await ask('GET', `platforms/${id}`)).headers.etag, added.headers.etag)
  t.equal((await ask('HEAD', `platforms/${id}`)).headers.etag, added.headers.etag)
})

t.test('every form of condition is honoured', async t => {
  const {
    headers: { etag: etagHeader },
    ...added
  } = await ask('POST', 'platforms', { payload: { name: 'held' } })
  const etag = String(etagHeader)
  const path = `platforms/${added.json().id}`
  for (const [headers, statusCode] of [
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
    t.equal(
      (await ask('PATCH', path, { headers, payload: { name: 'held' } })).statusCode,
      statusCode,
      JSON.stringify(headers),
    )
  }
  t.equal((await ask('GET', path, { headers: { 'if-match': '"other"' } })).statusCode, 412)
})

t.test('only one of several concurrent changes to the same state of a record, or of its links, succeeds', async t => {
  const groups = await Promise.all(
    ['One', 'Two', 'Three', 'Four'].map(name => add('groups', { license_id: license, name })),
  )
  for (const [path, payload, changes] of [
    ['platforms', { name: 'raced' }, ['one', 'two', 'three', 'four'].map(name => ({ name }))],
    ['users', { email: 'raced@museum.test', password }, groups.map(group => ({ group_ids: [group] }))],
  ] as const) {
    const { headers, ...added } = await ask('POST', path, { payload })
    const condition = { 'if-match': String(headers.etag) }
    const statuses = await Promise.all(
      changes.map(
        async payload => (await ask('PATCH', `${path}/${added.json().id}`, { headers: condition, payload })).statusCode,
      ),
    )
    t.strictSame(statuses.sort(), [200, 412, 412, 412])
  }
})

for (const [what, code] of [
  ['deadlocks with another', '40P01'],
  ['cannot be serialised', '40001'],
] as const) {
  t.test(`a change that ${what} may be sent again later`, async t => {
    const group = await add('groups', { license_id: license, name: 'Contested' })
    await sql`create function meet() returns trigger language plpgsql
      as ${sql.lit(`begin raise exception 'They met.' using errcode = '${code}'; end`)}`.execute(db)
    await sql`create trigger meet before delete on groups for each row execute function meet()`.execute(db)
    const response = await ask('DELETE', `groups/${group}`)
    await sql`drop trigger meet on groups`.execute(db)
    await sql`drop function meet`.execute(db)
    t.match(response, { statusCode: 503, headers: { 'retry-after': '2' } })
    t.equal((await ask('DELETE', `groups/${group}`)).statusCode, 204)
  })
}

t.test('the only admin cannot be removed or demoted, not even by two admins at the same time', async t => {
  await db.updateTable('users').set({ admin: false }).where('email', '<>', 'admin@museum.test').execute()
  const {
    items: [only],
  } = (await ask('GET', 'users?email=admin%40museum.test')).json()
  for (const response of [
    await ask('DELETE', `users/${only.id}`),
    await ask('PATCH', `users/${only.id}`, { payload: { admin: false } }),
  ]) {
    t.equal(response.statusCode, 409)
    t.equal(response.json().detail, 'This user is the only admin. Make somebody else an admin first.')
  }
  t.equal((await ask('PATCH', `users/${only.id}`, { payload: { admin: true, group_ids: [] } })).statusCode, 200)
  t.equal((await ask('PATCH', 'users/99999', { payload: { admin: false } })).statusCode, 404)
  const another = await add('users', { email: 'another@museum.test', password, admin: true })
  const statuses = (
    await Promise.all([only.id, another].map(id => ask('PATCH', `users/${id}`, { payload: { admin: false } })))
  ).map(({ statusCode }) => statusCode)
  t.strictSame(statuses.sort(), [200, 409])
  await db.updateTable('users').set({ admin: true }).where('id', '=', only.id).execute()
  app.entityCache.change('users', only.id)
  t.equal((await ask('DELETE', `users/${another}`)).statusCode, 204)
})

t.test('e-mail addresses ignore capitals and must be in normal form C', async t => {
  const email = 'jos\u00e9@museum.test'
  await add('users', { email, password })
  t.match((await ask('GET', 'users?email=ADMIN%40Museum.test')).json().items, [{ email: 'admin@museum.test' }])
  const decomposed = await ask('POST', 'users', {
    payload: { email: email.normalize('NFD'), password },
  })
  t.equal(decomposed.statusCode, 400)
  t.equal(decomposed.json().detail, "email must be an e-mail address, in Unicode's normal form C.")
})

t.test('a license without a type can be read, but a change cannot leave it without one', async t => {
  const id = await addLicense(database, { domain: 'typeless.test', type: null })
  t.equal((await ask('GET', `licenses/${id}`)).json().type_id, null)
  t.equal((await ask('PATCH', `licenses/${id}`, { payload: { type_id: null } })).statusCode, 400)
})

t.test('a unique value can be neither added twice nor changed into a duplicate', async t => {
  const group = await add('groups', { license_id: license, name: 'Anybody' })
  for (const [path, payload, field] of [
    ['license-types', { type: 'standard' }, 'type'],
    ['languages', { code: 'en', name: 'English' }, 'code'],
    ['users', { email: 'ADMIN@museum.test', password, group_ids: [group] }, 'email'],
  ] as const) {
    t.match((await ask('POST', path, { payload })).json(), {
      status: 409,
      detail: ` has this ${field}.`,
      errors: [{ field }],
    })
  }
  const id = await add('license-types', { type: 'second' })
  t.equal((await ask('PATCH', `license-types/${id}`, { payload: { type: 'standard' } })).statusCode, 409)
  t.equal((await ask('GET', `license-types/${id}`)).json().type, 'second')
})

t.test('a reference to a missing record is refused by the name of its field', async t => {
  const a = { domain: 'a.test', name: 'A', type_id: type }
  for (const [path, payload, field] of [
    ['licenses', { ...a, type_id: '99999' }, 'type_id'],
    ['licenses', { ...a, language_ids: ['99999'] }, 'language_ids'],
    ['licenses', { ...a, platform_ids: ['9223372036854775807'] }, 'platform_ids'],
    ['museums', { license_id: '99999', name: 'A' }, 'license_id'],
    ['groups', { license_id: '99999', name: 'A' }, 'license_id'],
    ['users', { email: 'a@b.test', password, group_ids: ['99999'] }, 'group_ids'],
  ] as const) {
    t.match((await ask('POST', path, { payload })).json(), {
      status: 422,
      detail: `${field} names no existing `,
      errors: [{ field }],
    })
  }
  t.strictSame((await ask('GET', 'licenses?domain=a.test')).json().items, [])
  t.strictSame((await ask('GET', 'users?email=a%40b.test')).json().items, [])
})

t.test('a record that others refer to is not removed', async t => {
  for (const [path, by] of [
    [`license-types/${type}`, 'licenses'],
    [`languages/${await addLanguage(database, 'en')}`, 'license languages'],
  ]) {
    t.match((await ask('DELETE', String(path))).json(), { status: 409, detail: `${by} refer to it.` })
    t.equal((await ask('GET', String(path))).statusCode, 200)
  }
})

t.test('removing a license removes what belongs to it', async t => {
  const id = await addLicense(database, { domain: 'leaving.test', languages: ['en'], museums: ['Gone'] })
  t.equal((await ask('DELETE', `licenses/${id}`)).statusCode, 204)
  t.strictSame((await ask('GET', `museums?license_id=${id}`)).json().items, [])
})

t.test('a missing record is a 404', async t => {
  for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
    const response = await ask(method, 'museums/9223372036854775807', {
      ...(method === 'PATCH' && { payload: { name: 'x' } }),
    })
    t.equal(response.statusCode, 404)
    t.equal(response.json().detail, 'There is no museum 9223372036854775807.')
  }
})

t.test('unknown paths and methods are answered as outside the API', async t => {
  t.equal((await ask('GET', 'nothing')).json().detail, 'No route found for "GET /api/nothing"')
  t.equal((await ask('GET', 'museums/1/2')).json().detail, 'No route found for "GET /api/museums/1/2"')
  const slashed = await ask('GET', 'museums/?limit=1')
  t.strictSame([slashed.statusCode, slashed.headers.location], [301, 'http://museum.test/api/museums?limit=1'])
  t.equal((await ask('PATCH', 'museums/', { payload: {} })).json().detail, 'No route found for "PATCH /api/museums/"')
  t.equal(
    (await ask('PUT', 'museums/1')).json().detail,
    'No route found for "PUT /api/museums/1": Method Not Allowed (Allow: GET, PATCH, DELETE)',
  )
})

t.test('the content of a protected site can be read by those who may enter it', async t => {
  await addLicense(database, { domain: 'rope.test', protected: true, museums: ['Depot'] })
  t.equal((await app.inject({ url: '/api/museums', headers: { host: 'rope.test' } })).statusCode, 401)
  const cookie = await signIn(app, { host: 'rope.test', email: 'admin@museum.test' })
  t.equal((await app.inject({ url: '/api/museums', headers: { host: 'rope.test', cookie } })).statusCode, 200)
})

t.test('a record that the database did not store is an error', async t => {
  await sql`create function swallow() returns trigger language plpgsql as 'begin return null; end'`.execute(db)
  await sql`create trigger swallow before insert on platforms for each row execute function swallow()`.execute(db)
  t.equal((await ask('POST', 'platforms', { payload: { name: 'swallowed' } })).statusCode, 500)
  await sql`drop trigger swallow on platforms`.execute(db)
})

t.test("violating a constraint that is not Portico's is an error of the server, not of the client", async t => {
  await sql`create unique index platforms_lower_name on platforms (lower(name))`.execute(db)
  await add('platforms', { name: 'lower' })
  t.equal((await ask('POST', 'platforms', { payload: { name: 'LOWER' } })).statusCode, 500)
  await sql`drop index platforms_lower_name`.execute(db)
  await sql`alter table platforms add constraint no_odd_names check (name <> 'odd')`.execute(db)
  t.equal((await ask('POST', 'platforms', { payload: { name: 'odd' } })).statusCode, 500)
})

/** A made-up cursor. */
function written(parts: unknown): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

function namesOf(response: { json: () => { items: { name: string }[] } }): string[] {
  return response.json().items.map(({ name }) => name)
}
