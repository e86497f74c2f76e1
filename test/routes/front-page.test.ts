import t from 'tap'
import { addLicense, addUser, build, cookieOf, heardOf, openTestDatabase, signIn } from '../support/site.ts'

const database = await openTestDatabase(t)
const id = await addLicense(database, {
  domain: 'museum.test',
  name: 'House & <Home>',
  languages: ['en', 'de'],
  museums: ['Zeughaus', 'Altes "Depot"'],
})
await addLicense(database, { domain: 'empty.test', name: 'Empty', languages: ['fr'] })

const app = await build(t, { database })
const browser = 'text/html,application/xhtml+xml,*/*;q=0.8'

async function ask(headers: Record<string, string>, url = '/') {
  return await app.inject({ url, headers: { host: 'museum.test', accept: browser, ...headers } })
}

t.test("a browser gets the license's name, its museums and its languages", async t => {
  const { body, headers, statusCode } = await ask({})
  t.strictSame([statusCode, headers['content-type']], [200, 'text/html; charset=utf-8'])
  t.match(body, '<html lang="en">')
  t.match(body, '<h1>House &#38; &#60;Home&#62;</h1>')
  t.match(body, '<li>Altes &#34;Depot&#34;</li><li>Zeughaus</li>')
  t.match(body, '<button name="language" value="en" lang="en" aria-current="true">Language en</button>')
  t.match(body, '<button name="language" value="de" lang="de">Language de</button>')
})

t.test('a site without museums says so, and a site with one language has no language switch', async t => {
  const { body } = await ask({ host: 'empty.test' })
  t.match(body, 'Il n’y a pas encore de musées ici.')
  t.notMatch(body, '<nav')
})

t.test('a museum with an address is a link to it, which opens in the same window', async t => {
  const license = await addLicense(database, { domain: 'linked.test', museums: ['Arsenal'] })
  const url = "https://depot.test/?a=b&c='d'"
  await database.db.insertInto('museums').values({ license_id: license, name: 'Depot', url }).execute()
  const { body } = await ask({ host: 'linked.test' })
  t.match(body, '<li>Arsenal</li>')
  t.match(body, '<a rel="external" href="https://depot.test/?a=b&#38;c=&#39;d&#39;">Depot</a>')
  t.notMatch(body, 'target=')
  const { museums } = (await ask({ host: 'linked.test', accept: 'application/json' })).json()
  t.match(museums, [
    { name: 'Arsenal', url: null },
    { name: 'Depot', url },
  ])
})

t.test('a program gets the same as JSON', async t => {
  const response = await ask({ accept: 'application/json' })
  t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  t.match(response.json(), {
    license: { domain: 'museum.test', name: 'House & <Home>' },
    locale: 'en',
    museums: [{ name: 'Altes "Depot"' }, { name: 'Zeughaus' }],
    languages: [
      { code: 'en', name: 'Language en' },
      { code: 'de', name: 'Language de' },
    ],
  })
})

t.test('the page and the JSON have separate ETags and are not sent twice', async t => {
  const { headers } = await ask({})
  const known = { 'if-none-match': String(headers.etag) }
  t.not(headers.etag, (await ask({ accept: 'application/json' })).headers.etag)
  t.equal((await ask(known)).statusCode, 304)
  t.equal((await ask({ ...known, accept: 'application/json' })).statusCode, 200)
  t.match(headers.vary, 'Accept')
})

t.test('a page is sent again after a change', async t => {
  const before = await ask({})
  await heardOf(database, () =>
    database.db.insertInto('museums').values({ license_id: id, name: 'Neues Haus' }).execute(),
  )
  const after = await ask({ 'if-none-match': String(before.headers.etag) })
  t.match(after, { statusCode: 200, body: 'Neues Haus' })
})

t.test('a language tag that only the database accepts does not break the page', async t => {
  await addLicense(database, { domain: 'odd.test', languages: ['de-1', 'abcd-e'] })
  t.match(await ask({ host: 'odd.test' }), { statusCode: 200, body: '<html lang="de-1">' })
})

t.test('a signed-in visitor sees who they are and a button to sign out, and others a link to sign in', async t => {
  await addUser(database, { email: '<a>@museum.test' })
  await addUser(database, { email: 'other@museum.test' })
  const anonymous = await ask({ 'accept-language': 'de' })
  t.notMatch(anonymous.body, '/logout')
  t.match(anonymous.body, '<a href="/login?next=%2F">Anmelden</a>')
  t.match(String(anonymous.headers.vary).split(', ').sort(), ['Accept', 'Accept-Language', 'Cookie'])
  const etags = new Set([anonymous.headers.etag])
  for (const [email, shown] of [
    ['<a>@museum.test', '&#60;a&#62;@museum.test'],
    ['other@museum.test', 'other@museum.test'],
  ] as const) {
    const cookie = await signIn(app, { host: 'museum.test', email })
    const page = await ask({ 'accept-language': 'de', cookie, 'if-none-match': String(anonymous.headers.etag) })
    t.equal(page.statusCode, 200)
    t.match(
      page.body,
      `<form method="post" action="/logout" class="session"><span>${shown}</span> <span><a href="/password">Passwort ändern</a> <button>Abmelden</button></span></form>`,
    )
    t.notMatch(page.body, '/login')
    etags.add(page.headers.etag)
  }
  t.equal(etags.size, 3)
})

/** Adds a site with so many museums, the last one first. Every two share a name. */
async function addSite(domain: string, count: number): Promise<string> {
  const id = await addLicense(database, { domain, languages: ['en', 'de'] })
  const rows = Array.from({ length: count }, (_, index) => ({ license_id: id, name: nameOf(index) })).reverse()
  await heardOf(database, () => database.db.insertInto('museums').values(rows).execute())
  return id
}

/** Names of one to three digits, which sort by number and not by text. */
function nameOf(index: number): string {
  return `Museum ${1 + 2 * Math.floor(index / 2)}`
}

/** The address of a link on a page. */
function linkOf(body: string, word: string): string | undefined {
  return new RegExp(`<a (?:rel="[a-z]+" )?href="([^"]*)">${word}</a>`).exec(body)?.[1]?.replaceAll('&#38;', '&')
}

function museumsOf(body: string): string[] {
  return [...body.matchAll(/<li>(Museum [^<]*)<\/li>/g)].map(([, name]) => String(name))
}

const manyNames = Array.from({ length: 250 }, (_, index) => nameOf(index))
const many = { host: 'many.test' }
const manyId = await addSite('many.test', 250)

t.test(
  'a site with many museums shows a hundred at a time, sorted by the numbers in their names, with links to others',
  async t => {
    const pages = []
    for (let url: string | undefined = '/'; url !== undefined; url = linkOf(pages.at(-1) ?? '', 'Next')) {
      pages.push((await ask(many, url)).body)
    }
    const hundreds = [manyNames.slice(0, 100), manyNames.slice(100, 200), manyNames.slice(200)]
    t.strictSame(pages.map(museumsOf), hundreds)
    t.notOk(linkOf(pages[0] ?? '', 'Previous'))

    const { body: second } = await ask(many, linkOf(pages[2] ?? '', 'Previous'))
    t.strictSame(museumsOf(second), hundreds[1])
    t.equal(linkOf(second, 'First page'), '/')
    const { body: first } = await ask(many, linkOf(second, 'Previous'))
    t.strictSame(museumsOf(first), hundreds[0])
    t.notOk(linkOf(first, 'Previous'))
    t.strictSame(museumsOf((await ask(many, linkOf(first, 'Next'))).body), hundreds[1])
  },
)

t.test('a site whose museums fit on one page has no page links', async t => {
  await addSite('hundred.test', 100)
  const { body } = await ask({ host: 'hundred.test' })
  t.equal(museumsOf(body).length, 100)
  t.notMatch(body, 'aria-label="Pages"')
})

t.test('a program gets a hundred museums at a time, with cursors for the others', async t => {
  const read = async (query = '') => (await ask({ ...many, accept: 'application/json' }, `/${query}`)).json()
  const first = await read()
  t.strictSame([first.museums.length, first.previous], [100, null])
  const second = await read(`?cursor=${first.next}`)
  t.strictSame(
    second.museums.map(({ name }: { name: string }) => name),
    manyNames.slice(100, 200),
  )
  t.match(second.museums[0], { url: null })
  t.strictSame((await read(`?cursor=${second.previous}`)).museums, first.museums)
  const third = await read(`?cursor=${second.next}`)
  t.equal(third.next, null)
  t.strictSame((await read(`?cursor=${third.previous}`)).museums, second.museums)
})

t.test('page links keep the requested language, and choosing a language keeps the page', async t => {
  const first = await ask(many, '/?_locale=de')
  const second = await ask(many, linkOf(first.body, 'Weiter'))
  t.match(second.body, '<html lang="de">')
  t.equal(linkOf(second.body, 'Erste Seite'), '/?_locale=de')
  const next = /name="next" value="([^"]*)"/.exec(second.body)?.[1] ?? ''
  const chosen = await choose(String(new URLSearchParams({ language: 'en', next })), many)
  t.equal(chosen.headers.location, next)
  t.strictSame(museumsOf((await ask(many, next)).body), manyNames.slice(100, 200))
})

t.test('a page whose museums are gone says so and links to the first', async t => {
  const id = await addSite('shrinking.test', 101)
  const next = linkOf((await ask({ host: 'shrinking.test' })).body, 'Next') ?? ''
  await heardOf(database, () => database.db.deleteFrom('museums').where('license_id', '=', id).execute())
  const page = await ask({ host: 'shrinking.test' }, next)
  t.equal(page.statusCode, 200)
  t.match(page.body, 'There are no more museums.')
  t.equal(linkOf(page.body, 'First page'), '/')
  t.notOk(linkOf(page.body, 'Next') ?? linkOf(page.body, 'Previous'))
})

t.test('a cursor of one site shows none of its museums at another', async t => {
  const next = linkOf((await ask(many)).body, 'Next') ?? ''
  const { body } = await ask({}, next)
  t.strictSame(museumsOf(body), [])
  t.match(body, '<li>Zeughaus</li>')
})

const inCursor = (...values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url')
for (const [what, query] of [
  ['empty', 'cursor='],
  ['arbitrary text', 'cursor=2'],
  ['given twice', `cursor=${inCursor('name', 'a', '1')}&cursor=${inCursor('name', 'a', '1')}`],
  ['of another list', `cursor=${inCursor('id', '1', '1')}`],
  ['without an id', `cursor=${inCursor('name', 'a')}`],
  ['markup', 'cursor=%22%3E%3Cscript%3E'],
  ['not UTF-8', 'cursor=%ff'],
] as const) {
  t.test(`a malformed cursor is refused: ${what}`, async t => {
    const { statusCode, body } = await ask(many, `/?${query}`)
    t.equal(statusCode, 400)
    t.match(body, 'The cursor is not valid. Follow the links of the first page.')
    t.notMatch(body, '<script>')
  })
}

t.test('a made-up cursor leads to where it would be, and is escaped', async t => {
  const cursor = inCursor('name', '"><script>', '1')
  const { statusCode, body } = await ask(many, `/?cursor=${cursor}&_locale=%22%3E%3Cscript%3E`)
  t.equal(statusCode, 200)
  t.notMatch(body, '<script>')
})

t.test('a site caches no more museums than its first page needs', async t => {
  t.equal((await app.entities.museums.read(manyId)).length, 101)
})

t.test('the language switch sets a cookie and returns to the page in that language', async t => {
  const chosen = await choose('language=de')
  t.match(chosen, { statusCode: 303, headers: { location: '/' } })
  t.match(chosen.headers['set-cookie'], /^locale=de; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/)
  const { body } = await ask({ cookie: cookieOf(chosen), 'accept-language': 'en' })
  t.match(body, '<html lang="de">')
})

for (const [next, path] of [
  ['/a/b?c=d#e', '/a/b?c=d#e'],
  ['/?next=//evil.test', '/?next=//evil.test'],
  ['/\u00e9 <script>', '/%C3%A9%20%3Cscript%3E'],
  ['/a\r\nset-cookie: b', '/aset-cookie:%20b'],
  // What leads to another site, or to no path, leads to the front page.
  ...[
    ...['//evil.test', '/\\evil.test', '/\t/evil.test', ' //evil.test', 'https:/evil.test', 'javascript:alert(1)'],
    ...['evil.test', '?a', '', '/.//evil.test', '/%2e//evil.test', '//evil.test:port', '//['],
  ].map(next => [next, '/'] as const),
] as const) {
  t.test(`the language switch with next=${JSON.stringify(next).slice(0, 40)} leads to ${path}`, async t => {
    const { statusCode, headers } = await choose(String(new URLSearchParams({ language: 'de', next })))
    t.strictSame([statusCode, headers.location], [303, path])
  })
}

for (const payload of [
  'language=fr',
  '',
  'language=de&language=en',
  'language=de%0d%0aset-cookie:a=b',
  '__proto__=de',
]) {
  t.test(`the language switch refuses "${payload}"`, async t => {
    const response = await choose(payload)
    t.equal(response.statusCode, 400)
    t.notOk(response.headers['set-cookie'])
  })
}

t.test('another site cannot choose a language for visitors', async t => {
  t.equal((await choose('language=de', { 'sec-fetch-site': 'cross-site' })).statusCode, 403)
})

async function choose(payload: string, headers: Record<string, string> = {}) {
  const form = { host: 'museum.test', 'content-type': 'application/x-www-form-urlencoded' }
  return await app.inject({ method: 'POST', url: '/language', payload, headers: { ...form, ...headers } })
}
