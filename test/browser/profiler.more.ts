import type { BrowserContextOptions, Page } from 'playwright-core'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import applicationRoutes from '../../routes/index.ts'
import { buildDebugged, panels } from '../plugins/debug/panels/panels.ts'
import { profiledApp } from '#profiler/test/profiled-app'
import { addLicense, openTestDatabase } from '../support/site.ts'
import { launch, testInChromium } from './chromium.ts'
import { lookAt } from './look-at.ts'

await testInChromium('the profiler in a browser', testInBrowser)

async function testInBrowser(): Promise<void> {
  const database = await openTestDatabase(t)
  await addLicense(database, { domain: 'localhost', museums: ['Louvre'] })
  const app = await buildDebugged(t, { database, routes })
  const origin = (await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost')
  const browser = await launch(t)

  async function routes(app: FastifyInstance) {
    await app.register(applicationRoutes)
    app.get('/thrown', async request => {
      for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) {
        request.log[level]({ field: 'value' }, `A line at ${level}`)
      }
      for (let n = 0; n < 6; n++) {
        await sql`select ${n}::int, ${'a long parameter '.repeat(20)}::text`.execute(database.db)
      }
      const members = [
        new RangeError('The first member'),
        new SyntaxError('The second member', { cause: new Error('Beneath it') }),
      ]
      throw new Error('The outermost failure', { cause: new AggregateError(members, 'Several things failed') })
    })
  }

  /** A page, and the errors on its console. */
  async function open(
    t: Test,
    path: string,
    options: BrowserContextOptions = {},
    from = origin,
  ): Promise<{ page: Page; errors: string[] }> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
    t.teardown(() => context.close())
    const page = await context.newPage()
    const errors: string[] = []
    page.on('console', message => {
      // The browser requests an icon on its own, at any time.
      if (message.type() === 'error' && !message.location().url.endsWith('/favicon.ico')) errors.push(message.text())
    })
    page.on('pageerror', error => errors.push(String(error)))
    await page.goto(from + path)
    return { page, errors }
  }

  /** The token of a request that a program sends. */
  async function tokenOf(path: string): Promise<string> {
    const response = await fetch(origin + path)
    await response.text()
    return String(response.headers.get('x-debug-token'))
  }

  const thrown = await tokenOf('/thrown')

  t.test(
    '/version shows Exceptions, Logs and Stack Traces, and links to the same exception in the profiler',
    async t => {
      const { page } = await open(t, '/version')
      t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'No route found for "GET /version"')
      for (const section of ['Exceptions', 'Logs', 'Stack Traces']) {
        t.ok(await page.getByRole('heading', { level: 2, name: section }).isVisible(), section)
      }
      await lookAt(t, page, 'version')
      await page.getByRole('link', { name: 'Open profile' }).click()
      t.match(page.url(), /\/_profiler\/[\w-]{12}\?panel=exception$/)
      t.match(await page.getByRole('main').textContent(), 'No route found for "GET /version"')
      t.match(await page.getByRole('main').textContent(), 'No routes found for "/version/"')
    },
  )

  for (const panel of panels) {
    t.test(`the ${panel} panel opens without console errors, fits every screen and is marked in the menu`, async t => {
      const { page, errors } = await open(t, `/_profiler/${thrown}?panel=${panel}`)
      t.strictSame(errors, [])
      t.match(await page.locator('.menu [aria-current]').getAttribute('href'), `panel=${panel}`)
      t.equal(await page.getByText('could not be shown').count(), 0)
      await lookAt(t, page, panel)
    })
  }

  t.test('the toolbar is in a shadow root of the front page, leads to the profile, and stays folded', async t => {
    // Caches the site's records: a query would be one more item.
    await tokenOf('/')
    const { page } = await open(t, '/')
    const toolbar = page.locator('profiler-toolbar')
    await toolbar.getByRole('link', { name: '200 OK' }).waitFor()
    t.ok(await toolbar.evaluate(element => element.shadowRoot !== null))
    t.match(await toolbar.getByRole('listitem').allTextContents(), [/Time/, /Route/, /License/, /User/])
    await lookAt(t, page, 'front-page')
    await toolbar.getByRole('button', { name: 'Collapse the toolbar' }).click()
    t.notOk(await toolbar.getByRole('listitem').first().isVisible())
    await page.reload()
    t.ok(await toolbar.getByRole('button', { name: 'Expand the toolbar' }).isVisible())
    await lookAt(t, page, 'front-page-folded')
    await toolbar.getByRole('link', { name: '200 OK' }).click()
    t.match(page.url(), /\/_profiler\/[\w-]{12}$/)
    t.match(await page.locator('.request .url').first().textContent(), '/')
  })

  t.test('the toolbar does not cover the end of the page or scroll sideways', async t => {
    const { page } = await open(t, '/login', { viewport: { width: 400, height: 300 } })
    const toolbar = page.locator('profiler-toolbar section')
    await toolbar.getByRole('link', { name: '200 OK' }).waitFor()
    for (const state of ['open', 'with its fetches', 'folded']) {
      if (state === 'with its fetches') await toolbar.getByRole('button', { name: 'Fetches' }).click()
      if (state === 'folded') await toolbar.getByRole('button', { name: 'Collapse the toolbar' }).click()
      // The browser makes room only after it has laid out the toolbar.
      await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve))))
      await page.evaluate(() => {
        scrollTo(0, document.documentElement.scrollHeight)
      })
      const button = await page.getByRole('button', { name: 'Sign in' }).boundingBox()
      const bar = await toolbar.boundingBox()
      t.ok(
        button !== null && bar !== null && button.y + button.height <= bar.y,
        `${state}: ${JSON.stringify({ button, bar })}`,
      )
      t.ok(
        await toolbar.evaluate(
          element => element.scrollWidth <= element.clientWidth && element.getBoundingClientRect().right <= innerWidth,
        ),
        state,
      )
    }
  })

  t.test(
    'at 400 px a panel begins within the first 200 px, and the menu is one row with the open one in sight',
    async t => {
      const { page } = await open(t, '/', { viewport: { width: 400, height: 700 } })
      for (const panel of panels) {
        await page.goto(`${origin}/_profiler/${thrown}?panel=${panel}`)
        const main = await page.getByRole('main').boundingBox()
        t.ok(main !== null && main.y <= 200, panel)
        const current = await page.locator('.menu [aria-current]').boundingBox()
        t.ok(current !== null && current.x >= 0 && current.x + current.width <= 400, `${panel} is in sight`)
      }
    },
  )

  t.test('a new request appears in the list without a reload, and waits while the list is paused', async t => {
    const { page, errors } = await open(t, '/_profiler/')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    const token = await tokenOf('/login')
    await page.locator(`.requests [href$="${token}"]`).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await tokenOf('/login')
    await page.getByRole('link', { name: '1 new' }).waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('link', { name: '1 new' }).waitFor({ state: 'hidden' })
    t.strictSame(errors, [])
  })

  t.test('the counter of the list grows with its rows, and keys move through them', async t => {
    // Of its own, since others send requests to that of the other tests.
    const bare = await profiledApp(t)
    const from = await bare.listen({ port: 0, host: '127.0.0.1' })
    await fetch(`${from}/first`)
    await bare.profiler.settled()
    const { page, errors } = await open(t, '/_profiler/', {}, from)
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    const total = page.locator('#requests + .count')
    t.equal(await total.textContent(), '1')
    await fetch(`${from}/caf%C3%A9%E2%80%AE`)
    await page.locator('.requests tbody tr').nth(1).waitFor()
    t.equal(await total.textContent(), '2')
    await page.keyboard.press('j')
    t.equal(await page.evaluate(() => document.activeElement?.textContent), 'GET /café%E2%80%AE')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    t.ok(await page.getByRole('searchbox').evaluate(element => element === document.activeElement))
    t.strictSame(errors, [])
  })

  t.test('the keyboard can skip to the content, and focus is visible', async t => {
    for (const path of ['/version', `/_profiler/${thrown}?panel=database`, '/_profiler/']) {
      const { page } = await open(t, path)
      await page.keyboard.press('Tab')
      const skip = page.getByRole('link', { name: 'Skip to content' })
      t.ok(
        await skip.evaluate(element => element === document.activeElement && element.getBoundingClientRect().top >= 0),
        `${path}: the first stop is the visible skip link`,
      )
      await page.keyboard.press('Enter')
      t.equal(await page.evaluate(() => document.activeElement?.id), 'main')
      await page.keyboard.press('Tab')
      t.not(
        await page.evaluate(
          () => document.activeElement !== null && getComputedStyle(document.activeElement).outlineStyle,
        ),
        'none',
        `${path}: focus is visible`,
      )
    }
  })

  t.test('every page is readable without JavaScript', async t => {
    const { page } = await open(t, '/', { javaScriptEnabled: false })
    for (const path of ['/version', '/_profiler/', ...panels.map(panel => `/_profiler/${thrown}?panel=${panel}`)]) {
      await page.goto(origin + path)
      t.ok((await page.getByRole('main').innerText()).length > 50, path)
    }
    await page.goto(`${origin}/_profiler/${thrown}?panel=database`)
    t.ok(await page.getByText('N+1: 6 queries of one shape').isVisible())
  })
}
