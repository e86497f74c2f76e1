import { symlinkSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import * as portico from '../index.ts'
import { addLicense, addUser, build, openTestDatabase, signIn } from './support/site.ts'
import { makeFolder } from './support/folder.ts'

const host = 'museum.test'
const style = '.doors { color: #a40 }'
const words = { en: 'Doors', de: 'Türen' }
const database = await openTestDatabase(t)
await addLicense(database, { domain: host, name: 'The <Museum>', languages: ['en', 'de'] })
await addUser(database, { email: 'admin@museum.test', admin: true })
const files = makeFolder(t)
writeFileSync(join(files, 'site.css'), 'h1 { color: #a40 }')
writeFileSync(join(files, '.secret'), 'x')
writeFileSync(join(files, 'plan:1.txt'), 'x')
writeFileSync(join(files, 'plan*.txt'), 'x')
symlinkSync(import.meta.filename, join(files, 'linked.txt'))
symlinkSync('site.css', join(files, 'same.css'))
const app = await build(t, {
  database,
  files,
  async routes(app) {
    app.get('/doors', async (request, reply) => {
      const title = portico.wordsFor(request.locale, { de: words.de }, words.en)
      const main = portico.html`<p class="doors">${'<script>alert(1)</script>'}</p>`
      return await portico.sendSitePage(request, reply, { title, main, style, data: { doors: 2 } })
    })
    app.get('/plain', async (request, reply) =>
      portico.sendSitePage(request, reply, { title: 'Plain', main: 'No style of its own' }),
    )
  },
})

const visit = async (url: string, headers: Record<string, string> = {}) =>
  await app.inject({ url, headers: { host, accept: 'text/html', ...headers } })

t.test('a page of a site has its name, its languages and the words of the visitor', async t => {
  const english = await visit('/doors?room=1&_locale=en')
  t.match(english.headers, { 'content-type': 'text/html; charset=utf-8', 'content-language': 'en' })
  t.match(english.body, '<title>Doors &ndash; The &#60;Museum&#62;</title>')
  t.match(english.body, 'name="language" value="de"')
  t.match(english.body, 'name="next" value="/doors?room=1"')
  t.match(english.body, '&#60;script&#62;')
  t.match((await visit('/doors', { 'accept-language': 'de' })).body, /<html lang="de">[^]*<h1>Türen</)
})

t.test('a switch of languages comes back to the whole query, whatever is in it', async t => {
  t.match((await visit('/doors?_locale=en&q=who?&room=1')).body, 'name="next" value="/doors?q=who%3F&#38;room=1"')
})

t.test('a page of a site shows who is signed in, and for admins why others do not see it', async t => {
  const cookie = await signIn(app, { host, email: 'admin@museum.test' })
  t.notMatch((await visit('/doors')).body, 'admin@museum.test')
  t.match((await visit('/doors', { cookie })).body, 'admin@museum.test')
  await database.db.updateTable('licenses').set({ suspended: true }).where('domain', '=', host).execute()
  app.entityCache.change('licenses', host)
  t.match((await visit('/doors', { cookie })).body, 'Only admins see it')
  t.equal((await visit('/doors')).statusCode, 503)
  await database.db.updateTable('licenses').set({ suspended: false }).where('domain', '=', host).execute()
  app.entityCache.change('licenses', host)
})

t.test('the policy of a page allows every style that it has, and nothing else that is inline', async t => {
  for (const path of ['/doors', '/plain', '/']) {
    const { body, headers } = await visit(path)
    const policy = String(headers['content-security-policy'])
    for (const [, text = ''] of body.matchAll(/<style>([^]*?)<\/style>/g)) {
      t.match(policy, `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
    }
    t.notMatch(policy, 'unsafe-inline')
  }
})

t.test('a page has an ETag, and is JSON for clients that prefer it if it has data', async t => {
  const { headers } = await visit('/doors')
  t.match(headers.vary, /Cookie.*Accept$/)
  t.equal((await visit('/doors', { 'if-none-match': String(headers.etag) })).statusCode, 304)
  t.strictSame((await visit('/doors', { accept: 'application/json' })).json(), { doors: 2 })
  t.match((await visit('/plain', { accept: 'application/json' })).headers['content-type'], 'text/html')
})

t.test('files of the folder are served behind the checks, and no others', async t => {
  const { statusCode, headers, body } = await visit('/site.css')
  t.strictSame([statusCode, headers['content-type'], body], [200, 'text/css; charset=utf-8', 'h1 { color: #a40 }'])
  t.equal(headers['cache-control'], 'private, no-cache')
  t.equal(headers['x-content-type-options'], 'nosniff')
  t.equal((await visit('/same.css')).body, body)
  t.equal((await visit('/site.css', { 'if-none-match': String(headers.etag) })).statusCode, 304)
  t.equal((await app.inject({ url: '/site.css', headers: { host: 'nowhere.test' } })).statusCode, 404)
  for (const path of [
    '/other.css',
    '/.secret',
    '/..%2fsite.css',
    '/plan:1.txt',
    '/plan2.txt',
    '/plan*.txt',
    '/linked.txt',
  ]) {
    t.match((await visit(path, { accept: 'text/plain' })).body, `No route found for "GET ${path}"`)
  }
})

t.test('a folder of files that is missing stops the start', async t => {
  const message = 'The folder of the files, nowhere, is missing.'
  await t.rejects(build(t, { database, files: 'nowhere' }), { name: 'StartError', message })
})
