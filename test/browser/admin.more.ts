import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import {
  addLanguage,
  addLicense,
  addLicenseType,
  addUser,
  build,
  openTestDatabase,
  testPassword,
} from '../support/site.ts'
import { testAccessibility } from './accessibility.ts'
import { launch, testInChromium } from './chromium.ts'
import { lookAt } from './look-at.ts'

await testInChromium('the admin pages in a browser', testInBrowser)

async function testInBrowser(): Promise<void> {
  const database = await openTestDatabase(t)
  await addLicense(database, { domain: 'office.localhost', name: 'The Office' })
  await addLicenseType(database, 'standard')
  for (const code of ['en', 'de']) await addLanguage(database, code)
  await addUser(database, { email: 'one@museum.test', admin: true })
  await addUser(database, { email: 'two@museum.test', admin: true })
  const app = await build(t, { database })
  const origin = (await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'office.localhost')
  const browser = await launch(t)

  /** Signs in without JavaScript, and fails for a request to elsewhere. */
  async function start(t: Test, email: string): Promise<Page> {
    const viewport = { width: 400, height: 900 }
    const context = await browser.newContext({ javaScriptEnabled: false, locale: 'en', viewport })
    t.teardown(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(10_000)
    page.on('request', request => {
      if (!/^(?:http:\/\/[a-z]+\.localhost:|data:)/.test(request.url())) t.fail(`${request.url()} was asked for`)
    })
    page.on('console', message => {
      if (message.type() === 'error' && !message.text().includes('status of 4')) t.fail(message.text())
    })
    await page.goto(`${origin}/login`)
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(testPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    return page
  }

  async function look(t: Test, page: Page, name: string): Promise<void> {
    const viewport = page.viewportSize()
    // Axe is a script.
    const copy = await browser.newPage({ viewport })
    await copy.setContent(await page.content())
    await testAccessibility(t, copy, name)
    await copy.close()
    await lookAt(t, page, `admin-${name}`)
    if (viewport !== null) await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme: 'light' })
  }

  const press = async (page: Page, name: string) => {
    await page.getByRole('button', { name, exact: true }).click()
  }
  const follow = async (page: Page, name: string) => {
    await page.getByRole('main').getByRole('link', { name, exact: true }).click()
  }
  const goTo = async (page: Page, name: string) => {
    await page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name, exact: true }).click()
  }

  t.test('an admin manages a site on a narrow screen, without JavaScript', async t => {
    const page = await start(t, 'one@museum.test')
    const domain = 'site.localhost'
    await page.getByRole('link', { name: 'Administration' }).click()
    await look(t, page, 'home')

    await goTo(page, 'Licenses')
    await look(t, page, 'list')
    await follow(page, 'Add license')
    await page.getByLabel('Domain', { exact: true }).fill(domain)
    await page.getByLabel('Name', { exact: true }).fill('A New Site')
    await page.getByLabel('Type', { exact: true }).selectOption('standard')
    await page.getByLabel('en', { exact: true }).check()
    await page.getByLabel('de', { exact: true }).check()
    await page.getByLabel('first: de').check()
    await look(t, page, 'form')
    await press(page, 'Save')
    t.equal(await page.getByRole('status').textContent(), 'Saved.')
    await look(t, page, 'saved')

    await follow(page, 'Museums')
    await follow(page, 'Add museum')
    await page.getByLabel('License', { exact: true }).selectOption(domain)
    await page.getByLabel('Name', { exact: true }).fill('Depot')
    await press(page, 'Save')
    await page.getByLabel('Name', { exact: true }).fill('The Depot')
    await press(page, 'Save')

    await goTo(page, 'Licenses')
    await follow(page, domain)
    await page.getByLabel('Domain', { exact: true }).fill('No host')
    await press(page, 'Save')
    t.match(await page.getByRole('alert').textContent(), 'This was not saved.')
    t.ok(await page.getByText('domain must be a host').isVisible())
    await look(t, page, 'refused')

    await goTo(page, 'Licenses')
    await follow(page, domain)
    await follow(page, 'Who changed it')
    t.equal(await page.getByRole('row').filter({ hasText: 'one@museum.test' }).count(), 1)
    await look(t, page, 'audit')

    await goTo(page, 'Licenses')
    await follow(page, domain)
    await follow(page, 'Remove')
    t.ok(await page.getByText('Museums: 1 removed with it').isVisible())
    await look(t, page, 'removal')
    await press(page, 'Remove')
    t.equal(await page.getByRole('status').first().textContent(), 'Removed.')

    await page.goto(`${origin}/admin/tokens/new`)
    await page.getByLabel('User', { exact: true }).selectOption('two@museum.test')
    await page.getByLabel('Name', { exact: true }).fill('ci')
    await press(page, 'Save')
    await look(t, page, 'token')

    await goTo(page, 'Users')
    await follow(page, 'two@museum.test')
    await press(page, 'Make a link to choose a password')
    await look(t, page, 'link')
  })
}
