import t from 'tap'
import { addLanguage, addLicense, addLicenseType, addUser, canSignIn, signIn, startApi } from '../../support/site.ts'
import { browse, filledIn } from '../../support/admin-pages.ts'
import { plainText } from '../../support/forms.ts'

const { app, database, db, license, adminId, admin, visitor, ask, add } = await startApi(t, {
  languages: ['en', 'de', 'fr'],
  museums: ['Arsenal', 'Depot'],
})
const type = await addLicenseType(database, 'standard')
const { open, post, formAt, fill } = browse(app, admin)
const site = `/admin/licenses/${license}`

/** The rows of the table of a page, as texts. */
async function rowsOf(url: string): Promise<string[]> {
  const { body } = await open(url)
  return [...body.matchAll(/<tr><t[hd][ >](?!.*scope="col")[^]*?<\/tr>/g)].map(([row]) => plainText(row))
}

t.test('only admins see the pages, and others what the API answers them', async t => {
  for (const path of [
    '/admin',
    '/admin/museums',
    '/admin/museums/new',
    site,
    `${site}/remove`,
    '/admin/tokens',
    '/admin/audit',
  ]) {
    const page = await open(path)
    t.match(page, { statusCode: 200, headers: { 'cache-control': 'no-store', 'content-language': 'en' } }, path)
    t.match(page.headers['content-type'], /^text\/html/)
    const nobody = await open(path, { cookie: '' })
    t.equal(nobody.statusCode, 401, path)
    t.notMatch(nobody.headers['www-authenticate'], 'Bearer', 'API tokens open no page')
    t.match(nobody.body, `href="/login?next=${encodeURIComponent(path)}"`)
    t.match(nobody.text, 'Sign in as an admin.')
    const other = await open(path, { cookie: visitor })
    t.equal(other.statusCode, 403, path)
    t.match(other.text, 'Only admins may do this, and you are signed in as visitor@museum.test.')
  }
  const { action, fields } = await formAt(site)
  t.equal((await post(action, fields, { cookie: '' })).statusCode, 401)
  t.equal((await post(action, fields, { cookie: visitor })).statusCode, 403)
})

t.test('an API token opens no page', async t => {
  const { text } = await fill('/admin/tokens/new', { name: 'no page', user_id: adminId })
  const authorization = `Bearer ${/portico_\S{43}/.exec(text)?.[0]}`
  t.equal((await open('/admin', { cookie: '', headers: { authorization } })).statusCode, 401)
})

t.test('the front page leads admins to the pages, and nobody else', async t => {
  t.match((await open('/')).body, '<a href="/admin">Administration</a>')
  t.match((await open('/?_locale=de')).body, '<a href="/admin">Verwaltung</a>')
  t.notMatch((await open('/', { cookie: visitor })).body, '/admin')
})

t.test('a page asks no other site for anything, and has no script', async t => {
  const { body, headers } = await open('/admin/licenses')
  t.notMatch(body, /<script|https?:|src=/)
  t.match(headers['content-security-policy'], /default-src 'self'/)
})

t.test('a record is added, found, changed and removed', async t => {
  const added = await fill('/admin/museums/new', { name: 'Cabinet', license_id: license })
  t.match(added, { statusCode: 303, location: /^\/admin\/museums\/\d+\?saved$/ })
  const [path = ''] = added.location.split('?')
  t.match((await open(added.location)).text, /Saved\. .*Cabinet|Museum: Cabinet .*Saved\./)
  t.match((await open('/')).text, 'Cabinet', 'the site has it at once')
  t.strictSame(await rowsOf('/admin/museums?name_prefix=cab'), [`Cabinet museum.test ${path.split('/').at(-1)}`])

  const changed = await fill(path, { name: 'Curiosities' })
  t.match(changed, { statusCode: 303, location: `${path}?saved` })
  t.match((await open('/')).text, 'Curiosities')

  const removed = await fill(`${path}/remove`, {})
  t.match(removed, { statusCode: 303, location: '/admin/museums?removed=1' })
  t.match((await open(removed.location)).text, 'Removed.')
  t.notMatch((await open('/')).text, 'Curiosities')
  t.match(await open(path), { statusCode: 404, text: /There is no museum \d+\./ })
})

t.test('a form that is sent untouched changes nothing, not even a microsecond', async t => {
  const { id } = await add('licenses', {
    domain: 'precise.test',
    name: 'Precise',
    type_id: type,
    valid_from: '2026-01-31T12:00:00.123456Z',
    language_ids: [await addLanguage(database, 'fr'), await addLanguage(database, 'en')],
  })
  const stored = () => db.selectFrom('licenses').selectAll().where('id', '=', id).executeTakeFirst()
  const before = await stored()
  t.equal((await fill(`/admin/licenses/${id}`, {})).statusCode, 303)
  t.strictSame(await stored(), before)
  await fill(`/admin/licenses/${id}`, { name: 'More precise' })
  const after = await stored()
  t.match(after, { name: 'More precise', valid_from: before?.valid_from })
})

t.test('times are entered in UTC, and emptied', async t => {
  const { id } = await add('licenses', { domain: 'timely.test', name: 'Timely', type_id: type })
  const path = `/admin/licenses/${id}`
  const read = async () => (await ask('GET', `licenses/${id}`)).json()
  await fill(path, { valid_from: '2027-01-31T12:30', valid_until: '2028-02-29T23:59:58.5' })
  t.match(await read(), { valid_from: '2027-01-31T12:30:00.000Z', valid_until: '2028-02-29T23:59:58.500Z' })
  t.equal((await formAt(path)).fields.get('valid_from'), '2027-01-31T12:30')
  t.match((await open(path)).text, 'Valid from (UTC)')
  await fill(path, { valid_from: '', valid_until: '' })
  t.match(await read(), { valid_from: null, valid_until: null })
})

t.test('languages are picked by name, in their order, with the default first', async t => {
  const [en, de, fr] = [
    await addLanguage(database, 'en'),
    await addLanguage(database, 'de'),
    await addLanguage(database, 'fr'),
  ]
  const { id } = await add('licenses', { domain: 'spoken.test', name: 'Spoken', type_id: type, language_ids: [de] })
  const ids = async () => (await ask('GET', `licenses/${id}`)).json().language_ids
  for (const [chosen, first, kept] of [
    [['', de, fr], de, [de, fr]],
    [['', de, fr], fr, [fr, de]],
    [['', fr, de, en], en, [en, fr, de]],
    [['', de], en, [de]],
    [[''], de, []],
  ] as const) {
    await fill(`/admin/licenses/${id}`, { language_ids: chosen, 'first.language_ids': first })
    t.strictSame(await ids(), kept)
  }
})

t.test('a refused form says why beside each field, in the words of the API, and keeps what was entered', async t => {
  const refused = await fill('/admin/users/new', { email: 'nobody', password: 'short', admin: ['false', 'true'] })
  t.equal(refused.statusCode, 400)
  t.match(
    refused.body,
    /<span id="wrong-email" class="wrong">email must be an e-mail address, in Unicode&#39;s normal form C\./,
  )
  t.match(refused.body, /<span id="wrong-password" class="wrong">password must have at least \d+ characters\./)
  t.match(
    refused.body,
    /name="email" required aria-describedby="hint-email wrong-email" aria-invalid="true"[^>]* value="nobody"/,
  )
  t.match(refused.body, /name="admin" value="true"[^>]* checked/)
  t.notMatch(refused.body, 'value="short"', 'a password is not shown again')
  t.match(refused.text, 'This was not saved.')

  await add('platforms', { name: 'taken' })
  const taken = await fill('/admin/platforms/new', { name: 'taken' })
  t.match(taken, { statusCode: 409, text: /name is taken\./ })
})

t.test('what concerns no field is said above the form', async t => {
  const only = await fill(`/admin/users/${adminId}`, { admin: 'false' })
  t.match(only, { statusCode: 409, text: /This user is the only admin\. Make somebody else an admin first\./ })
  const removal = await fill(`/admin/users/${adminId}/remove`, {})
  t.match(removal, { statusCode: 409, text: /This user is the only admin\./ })
  const used = await fill(`/admin/license-types/${type}/remove`, {})
  t.match(used, { statusCode: 409, text: /This license type is still in use: licenses refer to it\./ })
})

t.test('a record that has no effect says so', async t => {
  const { id } = await add('licenses', { domain: 'museum.test', name: 'Second', type_id: type })
  t.match(
    (await open(`/admin/licenses/${id}`)).text,
    `museum.test has several licenses, and license ${license} is the one that counts.`,
  )
})

t.test('a password is only changed if one is entered', async t => {
  const { id } = await add('users', { email: 'new@museum.test', password: 'four doors and an arch' })
  await fill(`/admin/users/${id}`, { email: 'newer@museum.test' })
  t.ok(await canSignIn(app, { host: 'museum.test', email: 'newer@museum.test', password: 'four doors and an arch' }))
  await fill(`/admin/users/${id}`, { password: 'another arch and no door' })
  t.ok(await canSignIn(app, { host: 'museum.test', email: 'newer@museum.test', password: 'another arch and no door' }))
})

t.test('lists are searched, filtered, sorted and paged', async t => {
  const other = await addLicense(database, { domain: 'many.test', name: 'Many', suspended: true })
  for (let n = 0; n < 120; n++) {
    await db
      .insertInto('museums')
      .values({ license_id: other, name: `Room ${n + 100}` })
      .execute()
  }
  const url = `/admin/museums?license_id=${other}`
  const first = await open(url)
  t.match(first.text, '120 found')
  t.equal((await rowsOf(url)).length, 50)
  const next = /href="([^"]*)">Next</.exec(first.body)?.[1]?.replaceAll('&#38;', '&') ?? ''
  t.match((await rowsOf(next))[0], 'Room 150 many.test')
  t.match((await open(next)).text, 'First page')

  t.match((await rowsOf(`${url}&sort=-name`))[0], 'Room 219')
  t.match((await open(`${url}&sort=-name`)).body, /aria-sort="descending"><a href="[^"]*sort=name"/)
  t.equal((await rowsOf(`${url}&name_prefix=room 11`)).length, 10)
  t.match(await rowsOf('/admin/licenses?suspended=true'), [/many\.test .*suspended/])
  t.strictSame(await rowsOf('/admin/licenses?created_at_until=2000-01-01'), [])
  t.match((await open('/admin/licenses?created_at_until=2000-01-01')).text, '0 found')
  t.match(await open(`${url}&sort=license_id`), { statusCode: 400, text: /sort must be one of/ })
})

t.test('a removal says first what goes with the record, and does that', async t => {
  const doomed = await addLicense(database, { domain: 'doomed.test', museums: ['One', 'Two', 'Three'] })
  await addUser(database, { email: 'doomed@museum.test', licenses: [doomed] })
  const { text } = await open(`/admin/licenses/${doomed}/remove`)
  t.match(text, 'Remove the license “doomed.test”?')
  for (const fate of ['Museums: 3 removed with it', 'Groups: 1 removed with it', 'Users: 1 lose their link to it']) {
    t.match(text, fate)
  }
  t.match((await open(`/admin/museums/1/remove`)).text, 'Nothing else goes with it.')
  await fill(`/admin/licenses/${doomed}/remove`, {})
  t.strictSame(await rowsOf(`/admin/museums?license_id=${doomed}`), [])
})

t.test('of two admins who change a record, the second sees what the first has saved, and may replace it', async t => {
  await addUser(database, { email: 'second@museum.test', admin: true })
  const { id } = await add('museums', { license_id: license, name: 'Contested' })
  const path = `/admin/museums/${id}`
  const { fields } = await formAt(path)
  await fill(path, { name: 'First' })
  const second = await post(path, filledIn(fields, { name: 'Second' }))
  t.equal(second.statusCode, 412)
  t.match(second.text, /Changed by admin@museum\.test meanwhile .*Nothing of yours was saved\./)
  t.match(second.text, 'Saved now: First')
  t.match(second.body, /name="name"[^>]* value="Second"/)
  t.equal((await ask('GET', `museums/${id}`)).json().name, 'First')
  const etag = /name="etag" value="&#34;([^&]*)&#34;"/.exec(second.body)?.[1]
  t.equal((await post(path, filledIn(fields, { name: 'Second', etag: `"${etag}"` }))).statusCode, 303)

  const removal = await formAt(`${path}/remove`)
  await fill(path, { name: 'Third' })
  t.match(await post(removal.action, removal.fields), {
    statusCode: 412,
    text: /Changed by admin@museum\.test meanwhile/,
  })
  t.equal((await ask('GET', `museums/${id}`)).statusCode, 200)
})

t.test('the audit of a record says who changed what', async t => {
  const { id } = await add('platforms', { name: 'kiosk' })
  await fill(`/admin/platforms/${id}`, { name: 'kiosk in the hall' })
  const [change, addition, ...others] = await rowsOf(`/admin/audit?table=platforms&record_id=${id}`)
  t.match(change, /admin@museum\.test .*api platforms \d+ change .*Name kiosk kiosk in the hall/)
  t.match(addition, /add .*Name kiosk/)
  t.strictSame(others, [])
  t.match((await open(`/admin/platforms/${id}`)).body, `/admin/audit?table=platforms&#38;record_id=${id}`)
})

t.test('a token is shown once, works, and is gone when it is removed', async t => {
  const made = await fill('/admin/tokens/new', { name: 'ci', user_id: adminId, read_only: 'true' })
  const [token = ''] = /portico_[\w-]{43}/.exec(made.body) ?? []
  t.match(made, { statusCode: 200, headers: { 'cache-control': 'no-store' }, text: 'It is not shown again.' })
  const headers = { authorization: `Bearer ${token}` }
  t.equal((await ask('GET', 'users', { cookie: '', headers })).statusCode, 200)
  t.equal((await ask('POST', 'users', { cookie: '', headers, payload: {} })).statusCode, 403)
  const list = await open(`/admin/tokens?user_id=${adminId}`)
  t.match(list.text, /ci admin@museum\.test yes/)
  t.notMatch(list.body, token.slice(8))
  t.match(await fill('/admin/tokens/new', { name: 'ci', user_id: adminId }), { statusCode: 409, text: /name is taken/ })

  const { id } = (await db.selectFrom('api_tokens').select('id').where('name', '=', 'ci').executeTakeFirst()) ?? {}
  t.match((await open(`/admin/tokens/${id}`)).text, /Token: ci .*Read only yes/)
  await fill(`/admin/tokens/${id}/remove`, {})
  t.equal((await ask('GET', 'users', { cookie: '', headers })).statusCode, 401)
  t.match(await rowsOf(`/admin/audit?table=api_tokens&record_id=${id}`), [/remove/, /add .*User admin@museum\.test/])
})

t.test('a link lets a user choose a password', async t => {
  const id = await addUser(database, { email: 'forgetful@museum.test' })
  const { action, fields } = await formAt(`/admin/users/${id}`, `/admin/users/${id}/password-link`)
  const { text } = await post(action, fields)
  t.match(text, 'It works once, for 60 minutes, and is not shown again.')
  const link = new URL(/http:\/\/museum\.test\/password\/reset\?token=[\w-]{43}/.exec(text)?.[0] ?? '')
  t.equal((await open(link.pathname + link.search)).statusCode, 200)
  t.match(await rowsOf(`/admin/audit?table=password_resets&record_id=${id}`), [/add/])
  t.equal((await post('/admin/users/999/password-link', new URLSearchParams())).statusCode, 404)
})

t.test('a site is suspended and opened, and admins still manage it', async t => {
  await fill(site, { suspended: ['false', 'true'] })
  t.equal((await open('/', { cookie: '' })).statusCode, 503)
  t.match(
    (await open('/admin/licenses')).text,
    /This site is suspended\. Only admins see it\..*museum\.test .*suspended/,
  )
  await fill(site, { suspended: 'false' })
  t.equal((await open('/', { cookie: '' })).statusCode, 200)
})

t.test('the pages speak the language of the visitor, where they have words for it', async t => {
  for (const [locale, words] of [
    ['de', /Lizenz: museum\.test .*Gültig ab \(UTC\) .*Die Sprachen der Website\..*Speichern/],
    ['fr', /Licence: museum\.test .*Valable à partir de \(UTC\) .*Les langues du site\..*Enregistrer/],
    ['en', /License: museum\.test .*Valid from \(UTC\) .*The site's languages, the default first\..*Save/],
  ] as const) {
    const { body, text } = await open(`${site}?_locale=${locale}`)
    t.match(body, `<html lang="${locale}">`)
    t.match(text, words)
  }
  const { action, fields } = await formAt('/admin/museums/new')
  const refused = await post(`${action}?_locale=de`, fields)
  t.match(refused.body, '<span lang="en">name is missing.</span>', 'the sentences of the API are English')
})

t.test('a license without languages has pages in the default language, and Dutch gets English ones', async t => {
  await addLicense(database, { domain: 'dutch.test', languages: ['nl'] })
  const cookie = await signIn(app, { host: 'dutch.test', email: 'admin@museum.test' })
  const { headers, body, text } = await open('/admin/museums/new', { host: 'dutch.test', cookie })
  t.equal(headers['content-language'], 'en')
  t.match(body, '<html lang="en">')
  t.match(text, 'Change password')
  t.match(text, 'Add museum')
})
