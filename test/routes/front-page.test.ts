import t from 'tap'
import { build } from '../build.ts'
import { heardOf } from '../heard.ts'
import { addLicense, addUser } from '../records.ts'
import { signIn } from '../sign-in.ts'
import { openTestDatabase } from '../test-database.ts'

const database = await openTestDatabase(t)
const id = await addLicense(database, { domain: 'museum.test', name: 'House & <Home>', languages: ['en', 'de'], museums: ['Zeughaus', 'Altes "Depot"'] })
await addLicense(database, { domain: 'empty.test', name: 'Empty', languages: ['fr'] })

const app = await build(t, { database })
const browser = 'text/html,application/xhtml+xml,*/*;q=0.8'

async function ask (headers: Record<string, string>, url = '/') {
  return await app.inject({ url, headers: { host: 'museum.test', accept: browser, ...headers } })
}

t.test('a browser is shown the license\'s name, its museums and its languages', async t => {
  const { body, headers, statusCode } = await ask({})
  t.equal(statusCode, 200)
  t.equal(headers['content-type'], 'text/html; charset=utf-8')
  t.match(body, '<html lang="en">')
  t.match(body, '<h1>House &#38; &#60;Home&#62;</h1>')
  t.match(body, '<li>Altes &#34;Depot&#34;</li><li>Zeughaus</li>')
  t.match(body, '<button name="language" value="en" lang="en" aria-current="true">Language en</button>')
  t.match(body, '<button name="language" value="de" lang="de">Language de</button>')
})

t.test('it is shown in the language that the browser asks for', async t => {
  const { body } = await ask({ 'accept-language': 'de-AT' })
  t.match(body, '<html lang="de">')
  t.match(body, '>Museen</h2>')
})

t.test('a site without museums, with one language, says the one and leaves the other out', async t => {
  const { body } = await ask({ host: 'empty.test' })
  t.match(body, 'Il n’y a pas encore de musées ici.')
  t.notMatch(body, '<nav')
})

t.test('a program is told the same as JSON', async t => {
  const response = await ask({ accept: 'application/json' })
  t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  t.match(response.json(), {
    license: { domain: 'museum.test', name: 'House & <Home>' },
    locale: 'en',
    museums: [{ name: 'Altes "Depot"' }, { name: 'Zeughaus' }],
    languages: [{ code: 'en', name: 'Language en' }, { code: 'de', name: 'Language de' }]
  })
})

t.test('both have an ETag of their own, and are not sent twice', async t => {
  const page = await ask({})
  const json = await ask({ accept: 'application/json' })
  t.not(page.headers.etag, json.headers.etag)
  t.equal((await ask({ 'if-none-match': String(page.headers.etag) })).statusCode, 304)
  t.equal((await ask({ 'if-none-match': String(page.headers.etag), accept: 'application/json' })).statusCode, 200)
  t.match(page.headers.vary, 'Accept')
})

t.test('a page that a change made stale is sent anew', async t => {
  const before = await ask({})
  await heardOf(database, () => database.db.insertInto('museums').values({ license_id: id, name: 'Neues Haus' }).execute())
  const after = await ask({ 'if-none-match': String(before.headers.etag) })
  t.equal(after.statusCode, 200)
  t.match(after.body, 'Neues Haus')
})

t.test('a language tag that only the table takes for one is shown in English words', async t => {
  await addLicense(database, { domain: 'odd.test', languages: ['de-1', 'abcd-e'] })
  const response = await ask({ host: 'odd.test' })
  t.equal(response.statusCode, 200)
  t.match(response.body, '<html lang="de-1">')
})

t.test('a host without a license has no front page', async t => {
  const response = await ask({ host: 'nobody.test' })
  t.equal(response.statusCode, 404)
  t.match(response.body, 'No license found for &#34;nobody.test&#34;.')
})

t.test('who is signed in is said on the page, with a button to sign out, and to nobody else', async t => {
  await addUser(database, { email: '<a>@museum.test' })
  await addUser(database, { email: 'other@museum.test' })
  const anonymous = await ask({ 'accept-language': 'de' })
  t.notMatch(anonymous.body, '/logout')
  t.match(String(anonymous.headers.vary).split(', ').sort(), ['Accept', 'Accept-Language', 'Cookie'])
  const etags = new Set([anonymous.headers.etag])
  for (const [email, shown] of [['<a>@museum.test', '&#60;a&#62;@museum.test'], ['other@museum.test', 'other@museum.test']] as const) {
    const cookie = await signIn(app, { host: 'museum.test', email })
    const page = await ask({ 'accept-language': 'de', cookie, 'if-none-match': String(anonymous.headers.etag) })
    t.equal(page.statusCode, 200)
    t.match(page.body, `<form method="post" action="/logout" class="session"><span>${shown}</span> <button>Abmelden</button></form>`)
    etags.add(page.headers.etag)
  }
  t.equal(etags.size, 3)
})

t.test('the language switch sets a cookie, and comes back to the page in that language', async t => {
  const chosen = await choose('language=de')
  t.equal(chosen.statusCode, 303)
  t.equal(chosen.headers.location, '/')
  t.match(chosen.headers['set-cookie'], /^locale=de; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/)
  const { body } = await ask({ cookie: String(chosen.headers['set-cookie']).replace(/;.*/, ''), 'accept-language': 'en' })
  t.match(body, '<html lang="de">')
})

t.test('it goes on to a path of this site, and no other', async t => {
  t.equal((await choose('language=de&next=/login')).headers.location, '/login')
  t.equal((await choose('language=de&next=//evil.test/')).headers.location, '/')
})

for (const payload of ['language=fr', 'language=DE', 'language=', '', 'language=de&language=en', 'language=de%00', 'language=de%0d%0aset-cookie:a=b', '__proto__=de']) {
  t.test(`it refuses "${payload}"`, async t => {
    const response = await choose(payload)
    t.equal(response.statusCode, 400)
    t.notOk(response.headers['set-cookie'])
  })
}

t.test('no other site chooses a language for this one\'s visitors', async t => {
  t.equal((await choose('language=de', { 'sec-fetch-site': 'cross-site' })).statusCode, 403)
})

async function choose (payload: string, headers: Record<string, string> = {}) {
  return await app.inject({ method: 'POST', url: '/language', payload, headers: { host: 'museum.test', 'content-type': 'application/x-www-form-urlencoded', ...headers } })
}
