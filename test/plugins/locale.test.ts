import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { addLanguage, addLicense, build, heardOf, openTestDatabase } from '../support/site.ts'

const database = await openTestDatabase(t)
const id = await addLicense(database, { domain: 'museum.test', languages: ['de', 'en', 'zh-Hant', 'pt-BR'] })
await addLicense(database, { domain: 'single.test', languages: ['fr'] })
await addLicense(database, { domain: 'speechless.test' })

async function routes(app: FastifyInstance) {
  app.get('/', { config: { license: 'optional' } }, async request => request.locale)
  app.get('/stated', async (_request, reply) => reply.header('content-language', 'la').send('salve'))
}

const app = await build(t, { database, routes, environment: { DEFAULT_LOCALE: 'nl' } })

async function ask(headers: Record<string, string>, url = '/') {
  return await app.inject({ url, headers: { host: 'museum.test', ...headers } })
}

/** Language ranges that no license has. */
function made(count: number): string {
  return Array.from({ length: count }, (_, number) => `x${number}`).join()
}

t.test('the query takes precedence over the cookie, and the cookie over Accept-Language', async t => {
  const headers = { cookie: 'locale=pt-BR', 'accept-language': 'zh-Hant' }
  t.equal((await ask(headers, '/?_locale=en')).body, 'en')
  t.equal((await ask(headers)).body, 'pt-BR')
  t.equal((await ask({ 'accept-language': 'zh-Hant' })).body, 'zh-Hant')
})

for (const [header, locale] of [
  ['en', 'en'],
  ['EN-gb', 'en'],
  ['zh-Hant-TW', 'zh-Hant'],
  ['fr, en;q=0.5', 'en'],
  ['en;q=0.2, pt-br;q=0.8', 'pt-BR'],
  ['en;q=0, *', 'de'],
  ['zh', 'zh-Hant'],
  ['fr', 'de'],
  ['', 'de'],
  [';;;,,,q=', 'de'],
  ['\u00fc\u00df', 'de'],
  ['a-'.repeat(5000), 'de'],
  [`${made(99)},en`, 'en'],
  [`${made(100)},en`, 'de'],
  [`en${'-a'.repeat(7000)}`, 'de'],
] as const) {
  t.test(`Accept-Language: ${header.slice(0, 40)} is answered in ${locale}`, async t => {
    t.equal((await ask({ 'accept-language': header })).body, locale)
    t.equal((await ask({ 'accept-language': header })).headers['content-language'], locale)
  })
}

for (const query of [
  ...['?_locale=xx', '?_locale=', '?_locale=en&_locale=de', '?_locale[]=en', '?_locale=%00', '?_locale=%3Cscript%3E'],
  ...['?__proto__=en', `?_locale=${'a'.repeat(5000)}`],
]) {
  t.test(`the query ${query.slice(0, 40)} is ignored`, async t => {
    t.equal((await ask({}, `/${query}`)).body, 'de')
  })
}

for (const cookie of [
  ...['locale=xx', 'locale', 'locale=%E0%A4%A', 'locale="; other=1', '=;=;=', '__proto__=en'],
  `locale=${'a'.repeat(5000)}`,
]) {
  t.test(`the cookie ${cookie.slice(0, 40)} is ignored`, async t => {
    t.equal((await ask({ cookie })).body, 'de')
  })
}

t.test('a license without languages is answered in the default locale', async t => {
  const response = await ask({ host: 'speechless.test', 'accept-language': 'de' })
  t.equal(response.body, 'nl')
  t.equal(response.headers['content-language'], 'nl')
})

t.test('a host without a license is answered in the default locale', async t => {
  t.equal((await ask({ host: 'nobody.test' })).body, 'nl')
})

t.test('Vary lists the headers that the locale was negotiated by', async t => {
  t.equal((await ask({})).headers.vary, 'Cookie, Accept-Language')
  t.equal((await ask({ cookie: 'locale=en' })).headers.vary, 'Cookie, Accept-Language')
})

t.test('Vary is absent if nothing was negotiated', async t => {
  t.notOk((await ask({}, '/?_locale=en')).headers.vary)
  t.notOk((await ask({ host: 'single.test' })).headers.vary)
  t.notOk((await ask({ host: 'nobody.test' })).headers.vary)
})

t.test('a route may set the language of its answer itself', async t => {
  t.equal((await ask({}, '/stated')).headers['content-language'], 'la')
})

t.test('a language added to a license while the server runs is chosen on the next request', async t => {
  t.equal((await ask({ 'accept-language': 'it' })).body, 'de')
  await heardOf(database, async () =>
    database.db
      .insertInto('license_languages')
      .values({ license_id: id, language_id: await addLanguage(database, 'it'), position: 9 })
      .execute(),
  )
  t.equal((await ask({ 'accept-language': 'it' })).body, 'it')
})
