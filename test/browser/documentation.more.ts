import { chromium } from 'playwright-core'
import t from 'tap'
import { seed } from '../../src/database/migrate.ts'
import { addUser, build, openTestDatabase, testPassword } from '../support/site.ts'
import { launchOptions, testInChromium } from './chromium.ts'
import { lookAt } from './look-at.ts'

await testInChromium("the API's documentation", testInBrowser)

async function testInBrowser(): Promise<void> {
  const database = await openTestDatabase(t)
  await seed(database.db)
  await addUser(database, { email: 'admin@museum.test', admin: true })
  const app = await build(t, { database })
  const origin = (await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost')

  t.test('an operation is sent only once a visitor tries it, also after signing in', async t => {
    const browser = await chromium.launch(launchOptions)
    t.teardown(() => browser.close())
    const page = await browser.newPage()
    await page.goto(`${origin}/api/docs`)
    await lookAt(t, page, 'documentation')
    await page.getByText('Remove one museum', { exact: true }).click()
    const removal = page.locator('#operations-museums-removeMuseum')
    const tryOut = removal.getByRole('button', { name: 'Try it out' })
    await tryOut.waitFor()
    t.equal(await removal.getByRole('button', { name: 'Execute' }).count(), 0)

    await page.goto(`${origin}/login?next=%2Fapi%2Fdocs`)
    await page.getByLabel('E-mail address').fill('admin@museum.test')
    await page.getByLabel('Password').fill(testPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${origin}/api/docs`)
    await page.getByText('Remove one museum', { exact: true }).click()
    await tryOut.click()
    t.equal(await removal.getByPlaceholder('id', { exact: true }).inputValue(), '')

    await page.getByText('List museums', { exact: true }).click()
    const list = page.locator('#operations-museums-listMuseums')
    await list.getByRole('button', { name: 'Try it out' }).click()
    await list.getByRole('button', { name: 'Execute' }).click()
    await list.locator('.live-responses-table').getByText('Museum of Doors').waitFor()
  })
}
