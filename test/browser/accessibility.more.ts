import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { sql } from 'kysely'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import applicationRoutes from '../../routes/index.ts'
import { buildDebugged, panels } from '../plugins/debug/panels/panels.ts'
import { addLicense, addUser, build, openTestDatabase, signIn } from '../support/site.ts'
import { makeFolder } from '../support/folder.ts'
import { commandsOn } from '../support/run-command.ts'
import { testAccessibility } from './accessibility.ts'
import { launch, testInChromium } from './chromium.ts'

await testInChromium('every page is accessible', testInBrowser)

async function testInBrowser(): Promise<void> {
  const database = await openTestDatabase(t)
  await addLicense(database, { domain: 'localhost', languages: ['en', 'de'], museums: ['Louvre'] })
  await addLicense(database, { domain: 'protected.localhost', protected: true })
  await addLicense(database, { domain: 'closed.localhost', suspended: true })
  const app = await buildDebugged(t, { database, routes })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const plain = await build(t, { database, routes })
  const visited = await plain.listen({ port: 0, host: '127.0.0.1' })
  const browser = await launch(t)
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  t.teardown(() => context.close())

  async function routes(app: FastifyInstance) {
    await app.register(applicationRoutes)
    app.post('/posted', async () => 'ok')
    app.get('/thrown', async request => {
      for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) {
        request.log[level]({ field: 'value', list: [1, { two: 3 }] }, `A line at ${level}`)
      }
      for (let n = 0; n < 6; n++) await sql`select ${n}::int`.execute(database.db)
      const members = ['first', 'second', 'third'].map(name =>
        Object.assign(new RangeError(name, { cause: new Error('Beneath it') }), { code: 'E_MEMBER' }),
      )
      throw new Error('The outermost failure', { cause: new AggregateError(members, 'Several things failed') })
    })
  }

  const origin = `http://localhost:${port}`
  const tokenOf = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(origin + path, init)
    await response.text()
    return String(response.headers.get('x-debug-token'))
  }
  const thrown = await tokenOf('/thrown')
  const missing = await tokenOf('/version')
  const refused = await tokenOf('/posted', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{',
  })
  const served = await tokenOf('/')
  await app.inject({
    method: 'POST',
    url: `/_profiler/${served}/browser`,
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    payload: { events: [{ kind: 'error', message: 'cart is undefined', place: 'app.js:1:2', stack: 'at app.js:1:2' }] },
  })

  const [busy, allocating] = [
    await tokenOf('/thrown', { headers: { 'x-profile': 'cpu' } }),
    await tokenOf('/thrown', { headers: { 'x-profile': 'allocations' } }),
  ]
  const servedAgain = await tokenOf('/')
  await addUser(database, { email: 'user@museum.test' })
  const [name = '', value = ''] = (await signIn(app, { host: 'localhost', email: 'user@museum.test' })).split('=', 2)
  await context.addCookies([{ name, value, url: origin }])
  const link = await commandsOn(database).print(`user password user@museum.test --link --host ${origin}`)
  const saved = join(makeFolder(t), 'profile.html')
  await writeFile(saved, await (await fetch(`${origin}/_profiler/${thrown}/file`)).text())

  const pages = {
    'the front page': '/',
    'the sign-in form': `http://protected.localhost:${port}/login`,
    'the page of a closed site': `http://closed.localhost:${port}/`,
    'the sign-in form of a closed site': `http://closed.localhost:${port}/login`,
    'the form to change a password': '/password',
    'the form to choose a password by a link': link.trim(),
    'a link that does not work': '/password/reset?token=wrong',
    'the error page of a 404': '/version',
    'the 404 that visitors see': `${visited.replace('127.0.0.1', 'localhost')}/version`,
    'the 404 of a host without a license': `${visited}/version`,
    'the error page of a 405': '/posted',
    'the error page of a 500': '/thrown',
    'the error page of a malformed URL': '/%zz',
    ...Object.fromEntries(panels.map(panel => [`the ${panel} panel of a 500`, `/_profiler/${thrown}?panel=${panel}`])),
    'the license panel of a page': `/_profiler/${served}?panel=license`,
    'the CPU panel of a request that was sampled': `/_profiler/${busy}?panel=cpu`,
    'the allocations of a request': `/_profiler/${allocating}?panel=cpu`,
    'the boot': '/_profiler/boot?fold=0',
    'what a page has reported': `/_profiler/${served}?panel=logs`,
    'an empty panel': `/_profiler/${served}?panel=exception`,
    'the exception panel of a 404': `/_profiler/${missing}?panel=exception`,
    'the routing panel of a 404': `/_profiler/${missing}?panel=routing`,
    'the lifecycle panel of a malformed body': `/_profiler/${refused}?panel=lifecycle`,
    'the body of the exception panel': `/_profiler/${thrown}/exception`,
    'the body of the exception panel of a 404': `/_profiler/${missing}/exception`,
    'the home page of the profiler': '/_profiler/',
    'a profile saved as a file': pathToFileURL(saved).href,
    'a comparison of two requests': `/_profiler/compare/${served}/${thrown}`,
    'a comparison of equal requests': `/_profiler/compare/${served}/${servedAgain}`,
    'a comparison of a route': '/_profiler/compare?method=GET&route=/&at=2026-01-01T00:00:00Z',
    'a comparison without requests': '/_profiler/compare',
    'a search': '/_profiler/search?status=4xx&panel=logs',
    'a page of search results': '/_profiler/search?perPage=2&page=2',
    'a search that finds nothing': '/_profiler/search?url=nothing',
    'an invalid search': `/_profiler/search?duration_min=50&timeFrom=never&url=${'x'.repeat(5000)}`,
    'the search form': '/_profiler/search_bar?panel=exception&status=odd',
    'an unknown token': '/_profiler/unknown',
    'an unknown panel': `/_profiler/${thrown}?panel=nope`,
    'the exception of a request without one': `/_profiler/${served}/exception`,
    'a missing page of the profiler': '/_profiler/a/b',
  }

  for (const [name, path] of Object.entries(pages)) {
    t.test(`axe finds no violations on ${name}, light or dark`, async t => {
      const page = await open(new URL(path, origin).href)
      await testAccessibility(t, page, name)
      await page.close()
    })
  }

  async function open(url: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(url)
    return page
  }
}
