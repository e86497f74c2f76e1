import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import applicationRoutes from '../../routes/index.ts'
import { addLicense, addUser, build, openTestDatabase, testPassword } from '../support/site.ts'
import { everythingStored, profiledApp } from '#profiler/test/profiled-app'
import { makeFolder } from '../support/folder.ts'
import { launch, testInChromium } from './chromium.ts'

await testInChromium('pages keep to their policies', testInBrowser)

async function testInBrowser(): Promise<void> {
  const database = await openTestDatabase(t)
  await addLicense(database, { domain: 'museum.localhost', languages: ['en', 'de'], museums: ['Louvre'] })
  await addUser(database, { email: 'visitor@museum.test' })
  const browser = await launch(t)

  async function routes(app: FastifyInstance) {
    await app.register(applicationRoutes)
    app.get('/scripted', async (_request, reply) =>
      reply
        .type('text/html')
        .send(
          '<!doctype html><title>harmless</title><body><script>document.title = "harmful"</script><p style="color: red" onclick="0">page</p></body>',
        ),
    )
  }

  async function serve(t: Test, debug: '0' | '1'): Promise<string> {
    const app = await build(t, { database, routes, environment: { DEBUG: debug } })
    return (await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'museum.localhost')
  }

  /** A page that records policy violations and console errors. */
  async function open(t: Test, url: string): Promise<{ page: Page; complaints: () => Promise<unknown> }> {
    const context = await browser.newContext()
    t.teardown(() => context.close())
    const page = await context.newPage()
    const said: string[] = []
    page.on('console', message => {
      const isStatus = message.text().startsWith('Failed to load resource')
      if (['error', 'warning'].includes(message.type()) && !isStatus) said.push(message.text())
    })
    page.on('pageerror', error => said.push(String(error)))
    await page.addInitScript(() => {
      const violations: string[] = []
      Object.assign(window, { violations })
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
        violations.push(`${violatedDirective} ${blockedURI}`),
      )
    })
    await page.goto(url)
    return {
      page,
      complaints: async () => [...said, ...(await page.evaluate<string[]>(() => Reflect.get(window, 'violations')))],
    }
  }

  for (const debug of ['0', '1'] as const) {
    t.test(`no page violates its policy with DEBUG=${debug}`, async t => {
      const origin = await serve(t, debug)
      const { page, complaints } = await open(t, origin)
      for (const path of ['/', '/login', '/version', '/%zz', '/api/museums/x', '/api/docs']) {
        await page.goto(origin + path)
        if (path === '/api/docs') await page.getByText('List museums').waitFor()
        else {
          t.ok(
            await page.evaluate(() => getComputedStyle(document.body).fontFamily.includes('sans-serif')),
            `${path} has its style`,
          )
        }
        // An error page shows the diagnostics itself, without a toolbar.
        if (debug === '1' && ['/', '/login'].includes(path)) {
          t.ok(await page.locator('profiler-toolbar').getByText('Fetches').isVisible(), `${path} has its toolbar`)
        }
        t.strictSame(await complaints(), [], path)
      }
    })
  }

  t.test('signing in, choosing a language and signing out do not violate the policy', async t => {
    const { page, complaints } = await open(t, `${await serve(t, '1')}/login`)
    await page.getByLabel('E-mail address').fill('visitor@museum.test')
    await page.getByLabel('Password').fill(testPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('banner').getByText('visitor@museum.test').waitFor()
    await page.getByRole('button', { name: 'Language de' }).click()
    await page.getByRole('button', { name: 'Abmelden' }).click()
    await page.getByRole('heading', { name: 'Museen' }).waitFor()
    await page.reload()
    t.ok(await page.locator('profiler-toolbar').getByText('Fetches').isVisible(), 'a cached page has the toolbar too')
    t.strictSame(await complaints(), [])
  })

  t.test('injected scripts and styles have no effect', async t => {
    const { page, complaints } = await open(t, `${await serve(t, '0')}/scripted`)
    t.equal(await page.title(), 'harmless')
    t.match(await complaints(), /script-src-elem inline.*style-src-attr inline.*script-src-attr inline/)
  })

  t.test(
    'the profiler adds its toolbar to a page whose policy allows nothing, and opens without violations itself',
    async t => {
      const app = await profiledApp(t)
      app.get('/', async (_request, reply) =>
        reply
          .type('text/html')
          .header('content-security-policy', "default-src 'none'")
          .header('etag', '"1"')
          .send('<!doctype html><title>Page</title><body><p>page</p></body>'),
      )
      const origin = await app.listen({ port: 0, host: '127.0.0.1' })
      const { page, complaints } = await open(t, origin)
      await page.locator('profiler-toolbar').getByRole('link', { name: '200 OK' }).waitFor()
      t.strictSame(await complaints(), [])
      await page.locator('profiler-toolbar').getByRole('link', { name: '200 OK' }).click()
      await page.getByRole('heading', { name: 'Request', level: 2 }).waitFor()
      t.strictSame(await complaints(), [])
    },
  )

  t.test('a page replays a request, and leads to the new profile', async t => {
    const app = await profiledApp(t)
    app.get('/', async () => 'ok')
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const { headers } = await fetch(origin)
    const token = String(headers.get('x-debug-token'))
    await everythingStored(app)
    const { page, complaints } = await open(t, `${origin}/_profiler/${token}`)
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Replay of').waitFor()
    t.ok(await page.getByRole('link', { name: token }).isVisible())
    await page.getByRole('link', { name: 'Compare with the original' }).click()
    await page.getByRole('link', { name: 'Swap A and B' }).waitFor()
    t.strictSame(await complaints(), [])
  })

  t.test('a profile saved as a file has its style when it is opened, and does not violate its policy', async t => {
    const app = await profiledApp(t)
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    await fetch(origin)
    await everythingStored(app)
    const file = join(makeFolder(t), 'profile.html')
    await writeFile(file, await (await fetch(`${origin}/_profiler/latest/file`)).text())
    const { page, complaints } = await open(t, pathToFileURL(file).href)
    t.ok(await page.evaluate(() => getComputedStyle(document.body).fontFamily.includes('sans-serif')))
    await page.getByRole('link', { name: 'Routing' }).click()
    t.ok(await page.getByRole('heading', { name: 'Routing' }).isVisible())
    t.strictSame(await complaints(), [])
  })
}
