import { sql } from 'kysely'
import t from 'tap'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { LicenseData } from '../../../../plugins/debug/panels/license.ts'
import { addLicense, addUser, hearAll, openTestDatabase, signIn } from '../../../support/site.ts'
import { type Answered, buildDebugged, leaveDuringRead, panelOf, readPanel } from './panels.ts'

const database = await openTestDatabase(t)
const hostile = '<script>alert(1)</script>|'
const id = await addLicense(database, { domain: 'museum.test', name: hostile, type: 'gold' })
await addLicense(database, { domain: 'protected.test', name: 'Louvre', protected: true })
await addLicense(database, { domain: 'second.test' })
await addLicense(database, { domain: 'suspended.test', suspended: true })
await addUser(database, { email: 'admin@museum.test', admin: true })
await hearAll(database)

async function routes(app: FastifyInstance) {
  const page = async (_request: FastifyRequest, reply: FastifyReply) =>
    reply.type('text/html').send('<html><body></body></html>')
  app.get('/', async () => 'inside')
  app.get('/page', page)
}

const app = await buildDebugged(t, { database, routes })
const ask = (host: string, url = '/') => app.inject({ url, headers: { host, accept: 'text/html' } })
const licenseOf = async (host: string) => panelOf<LicenseData>(app, await ask(host), 'license')

t.test('a license is shown with its key and its row, loaded from the database and then from the cache', async t => {
  const loaded = await licenseOf('MUSEUM.test:8080')
  t.match(loaded, {
    domain: 'museum.test',
    lookup: 'found',
    outcome: 'miss',
    row: { id, domain: 'museum.test', name: hostile, type: 'gold', protected: false },
  })
  t.ok(Number(loaded.duration) > 0)
  t.match(await licenseOf('museum.test'), { outcome: 'hit' })
})

t.test('requests that share a load say so', async t => {
  const responses = await Promise.all([ask('second.test'), ask('second.test')])
  const outcomes = await Promise.all(
    responses.map(async response => (await panelOf<LicenseData>(app, response, 'license')).outcome),
  )
  t.strictSame(outcomes.sort(), ['miss', 'shared'])
})

const htmlOf = (response: Answered) => readPanel(app, response, 'license', 'text/html')
const markdownOf = (response: Answered) => readPanel(app, response, 'license', 'text/markdown')

t.test('the license appears in the toolbar and the search', async t => {
  await ask('protected.test')
  t.match((await ask('museum.test', '/page')).body, /License&quot;,&quot;value&quot;:&quot;.{0,20}script/)
  const { total, profiles } = (await app.inject('/_profiler/search?license=protected.test')).json()
  t.equal(total, 1)
  t.match(profiles, [{ labels: { license: 'protected.test' } }])
})

t.test('the panel says that a license is valid', async t => {
  const response = await ask('second.test')
  t.match(await panelOf(app, response, 'license'), {
    validity: { isRefused: false, reason: 'The license is valid now.' },
  })
})

t.test('the panels say why a site is closed to a visitor', async t => {
  const response = await ask('suspended.test')
  t.equal(response.statusCode, 503)
  t.match(await panelOf(app, response, 'license'), {
    lookup: 'found',
    validity: { isRefused: true, reason: 'This site is suspended.' },
    row: { suspended: true, valid_from: null, valid_until: null },
  })
  t.match(await panelOf(app, response, 'security'), {
    checks: [
      {},
      {},
      { check: 'Locale', verdict: 'passed' },
      { check: 'Validity', verdict: 'refused', reason: 'This site is suspended.' },
      { check: 'Access', verdict: 'not reached' },
    ],
  })
})

t.test('the panel says why an admin sees a closed site', async t => {
  const cookie = await signIn(app, { host: 'suspended.test', email: 'admin@museum.test' })
  const response = await app.inject({ url: '/', headers: { host: 'suspended.test', cookie } })
  const reason = 'Only admins see the site: This site is suspended.'
  t.match(await panelOf(app, response, 'license'), { validity: { isRefused: false, reason } })
})

t.test('a host without a license is a warning that names it', async t => {
  const response = await ask('unknown.test')
  const none = { domain: 'unknown.test', lookup: 'none', row: null, validity: null, outcome: 'miss' }
  t.match(await panelOf(app, response, 'license'), none)
  const html = await htmlOf(response)
  t.match(html, 'The domain &quot;unknown.test&quot; has no license, or its license has no type.')
  t.match(html, /License <span class="fact warning">none/)
  t.match(await markdownOf(response), 'has no license, or its license has no type.')
})

t.test('the panel says why a host was not looked up', async t => {
  const response = await ask('not..valid')
  t.match(await panelOf(app, response, 'license'), { domain: '', lookup: 'never', row: null, duration: null })
  t.match(await htmlOf(response), 'refused before the license lookup')
})

t.test('a failed lookup is not shown as one that found nothing', async t => {
  await sql`alter table licenses rename to moved`.execute(database.db)
  const response = await ask('third.test')
  await sql`alter table moved rename to licenses`.execute(database.db)
  t.equal(response.statusCode, 500)
  t.match(await panelOf(app, response, 'license'), { domain: 'third.test', lookup: 'failed' })
  const html = await htmlOf(response)
  t.match(html, 'it is unknown whether the host has a license')
  t.match(html, /License <span class="fact error">failed/)
})

t.test('a client that leaves during the lookup leaves it unfinished', async t => {
  const response = await leaveDuringRead(app, database, 'left.test', 'licenses')
  t.match(await panelOf(app, response, 'license'), { domain: 'left.test', lookup: 'unfinished' })
  t.match(await htmlOf(response), 'ended before the lookup did')
})
