import type { BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import { profiledApp } from '#profiler/test/profiled-app'
import { launch, testInChromium } from './chromium.ts'
import { testAccessibility } from './accessibility.ts'
import { lookAt } from './look-at.ts'

await testInChromium('the toolbar', testInBrowser)

async function testInBrowser(): Promise<void> {
  const browser = await launch(t)

  /** A page with a script, and the toolbar on it. */
  async function open(t: Test, script: string, headers = {}, options: BrowserContextOptions = {}) {
    const app = await profiledApp(t)
    app.get('/page', async (request, reply) => {
      request.log.warn('Stock is low')
      return reply
        .type('text/html')
        .headers(headers)
        .send(
          `<!doctype html><html lang="en"><title>Page</title><body><main><h1>Page</h1></main><script type="module">${script}</script></body>`,
        )
    })
    app.get('/price', async () => 'price')
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const context = await browser.newContext({ viewport: { width: 1280, height: 600 }, ...options })
    t.teardown(() => context.close())
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', message => {
      // The browser requests an icon on its own.
      if (!message.location().url.endsWith('/favicon.ico')) complaints.push(message.text())
    })
    await page.goto(`${origin}/page`)
    const toolbar = page.locator('profiler-toolbar')
    await toolbar.getByRole('link', { name: '200 OK' }).waitFor()
    return { app, page, toolbar, complaints, origin }
  }

  /** Waits until the page has reported something. */
  async function reported(page: Page, app: FastifyInstance) {
    const { profiles } = await app.profiler.search({ url: '/page' })
    for (;;) {
      const { browser } = (await app.profiler.find(String(profiles[0]?.token))) ?? {}
      if (browser !== undefined) return browser
      await page.evaluate(() => new Promise(resolve => requestAnimationFrame(resolve)))
    }
  }

  t.test('a card shows on hover and on focus, and Escape closes it', async t => {
    const { page, toolbar } = await open(t, '')
    const card = toolbar.getByRole('group', { name: 'Logs' })
    await toolbar.getByText('Logs', { exact: true }).hover()
    await card.getByText('Stock is low').waitFor()
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'hidden' })
    await page.mouse.move(0, 0)
    await toolbar.getByRole('link', { name: '200 OK' }).focus()
    await page.keyboard.press('Tab')
    await card.getByText('Stock is low').waitFor()
    await page.keyboard.press('Tab')
    await card.waitFor({ state: 'hidden' })
    t.pass()
  })

  t.test('every card fits the screen and is accessible', async t => {
    const { page, toolbar } = await open(t, "await fetch('/price?b=2')")
    for (const width of [400, 1280]) {
      await page.setViewportSize({ width, height: 600 })
      for (const name of ['Time', 'Logs', 'Heap', 'Fetches']) {
        const item = toolbar.getByText(name, { exact: true })
        await item.hover()
        const card = await toolbar.locator('.card:not([hidden])').boundingBox()
        t.ok(card !== null && card.x >= 0 && card.x + card.width <= width && card.y >= 0, `${name} at ${width} px`)
      }
      await testAccessibility(t, page, `the toolbar at ${width} px`)
    }
    await toolbar.getByText('Time', { exact: true }).hover()
    await lookAt(t, page, 'toolbar-card')
  })

  t.test('errors of the page and failed requests are in its profile', async t => {
    const { app, page, toolbar } = await open(
      t,
      `fetch('/missing'); setTimeout(() => { throw new TypeError('cart is undefined') }); Promise.reject(new Error('no stock'))`,
    )
    const events = await reported(page, app)
    t.match(events.map(({ kind, message }) => `${kind} ${message}`).sort(), [
      /^error .*cart is undefined/,
      /^rejection .*no stock/,
      /^request .*missing/,
    ])
    await toolbar.getByText('Errors', { exact: true }).hover()
    t.match(await toolbar.getByRole('group', { name: 'Errors of this page' }).innerText(), /no stock/)
    await toolbar.getByText('Fetches', { exact: true }).hover()
    t.match(await toolbar.getByRole('group', { name: 'Requests made by this page' }).innerText(), /404\s+\/missing/)
    t.match(await toolbar.getByRole('button', { name: 'Fetches' }).innerText(), '1 failed')
  })

  t.test('an error that a page repeats is reported once', async t => {
    const { app, page } = await open(t, `setInterval(() => { throw new Error('again') }, 5)`)
    t.equal((await reported(page, app)).length, 1)
  })

  t.test('values that cannot be read and errors of any size are reported', async t => {
    const { app, page } = await open(
      t,
      `Promise.reject({ get stack() { throw 1 }, toString() { throw 2 } }); Promise.reject('\u{1f600}'.repeat(9000));
       for (let n = 0; n < 15; n++) Promise.reject(new Error(n + '\u{1f600}'.repeat(900)))`,
    )
    const events = await reported(page, app)
    t.match(events[0], { message: 'A promise was rejected', stack: null })
    t.ok(events.length > 1)
  })

  for (const [name, policy] of Object.entries({
    header: { 'content-security-policy': "script-src 'unsafe-inline'; connect-src 'none'" },
    'report-only header': { 'content-security-policy-report-only': 'connect-src https:; report-uri /reports' },
  })) {
    t.test(`a page whose policy forbids connections by a ${name} reports nothing, and breaks no policy`, async t => {
      const { toolbar, complaints, page } = await open(t, `setTimeout(() => { throw new Error('x') })`, policy)
      await toolbar.getByText('Errors', { exact: true }).waitFor()
      await page.evaluate(() => dispatchEvent(new Event('pagehide')))
      t.strictSame(complaints, [])
    })
  }

  t.test("the page's fetch, its measures and its error handlers stay its own", async t => {
    const { page } = await open(
      t,
      `performance.mark('mine'); window.seen = []; window.onerror = text => { window.seen.push(text); return true };
       setTimeout(() => { throw new Error('handled') })`,
    )
    await page.waitForFunction(() => Reflect.get(window, 'seen').length === 1)
    t.same(
      await page.evaluate(() => ({
        fetch: String(fetch).includes('[native code]'),
        measures: performance.getEntriesByType('measure').length,
        globals: Object.keys(window).filter(name => /profiler|reports/i.test(name)),
      })),
      { fetch: true, measures: 0, globals: [] },
    )
  })

  t.test("the server's spans are a track of the browser's performance timeline", async t => {
    const { page } = await open(t, '')
    await page.addInitScript(() => {
      const seen: unknown[] = []
      Object.assign(window, { seen })
      new PerformanceObserver(list => {
        for (const entry of list.getEntriesByType('measure')) seen.push(Reflect.get(entry, 'detail'))
      }).observe({ type: 'measure' })
    })
    await page.reload()
    await page.waitForFunction(() => Reflect.get(window, 'seen').length > 0)
    t.match(await page.evaluate(() => Reflect.get(window, 'seen')), [
      { devtools: { dataType: 'track-entry', track: 'Server' } },
    ])
  })

  t.test('without a pointer that hovers, the first touch shows the card and the next leads on', async t => {
    const { page, toolbar } = await open(
      t,
      '',
      {},
      { hasTouch: true, isMobile: true, viewport: { width: 400, height: 700 } },
    )
    const item = toolbar.getByRole('link', { name: /^Logs/ })
    await item.tap()
    await toolbar.getByRole('group', { name: 'Logs' }).getByText('Stock is low').waitFor()
    await item.tap()
    await page.waitForURL(/panel=logs/)
    t.pass()
  })

  t.test('a page without JavaScript is as it would be without the toolbar', async t => {
    const app = await profiledApp(t)
    app.get('/page', async (_request, reply) =>
      reply.type('text/html').send('<!doctype html><title>P</title><body><p>page</p></body>'),
    )
    const context = await browser.newContext({ javaScriptEnabled: false })
    t.teardown(() => context.close())
    const page = await context.newPage()
    await page.goto(`${await app.listen({ port: 0, host: '127.0.0.1' })}/page`)
    t.equal(await page.locator('body').innerText(), 'page')
  })
}
