import t from 'tap'
import { build } from '../support/build.ts'
import { addLicense } from '../support/records.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { launch, testInChromium } from './chromium.ts'
import { lookAt } from './look-at.ts'

await testInChromium('the front page in a browser', testInBrowser)

async function testInBrowser(): Promise<void> {
  const database = await openTestDatabase(t)
  const id = await addLicense(database, {
    domain: 'many.localhost',
    name: 'The Hundred Museums and More',
    languages: ['en', 'de'],
  })
  const museums = Array.from({ length: 250 }, (_, index) => ({ license_id: id, name: `Museum ${1000 + index}` }))
  await database.db.insertInto('museums').values(museums).execute()
  const app = await build(t, { database })
  const origin = (await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'many.localhost')

  t.test('A visitor without JavaScript pages through the museums by links', async t => {
    const browser = await launch(t)
    const page = await browser.newPage({ javaScriptEnabled: false })
    const shows = async (name: string) => {
      await page.getByText(name, { exact: true }).waitFor()
      return await page.locator('.records li').count()
    }
    await page.goto(origin)
    t.equal(await shows('Museum 1000'), 100)
    t.equal(await page.getByRole('link', { name: 'Previous' }).count(), 0)
    await lookAt(t, page, 'first-of-many')
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Next' }).click()
    t.equal(await shows('Museum 1100'), 100)
    await lookAt(t, page, 'second-of-many')
    await page.getByRole('link', { name: 'Next' }).click()
    t.equal(await shows('Museum 1249'), 50)
    t.equal(await page.getByRole('link', { name: 'Next' }).count(), 0)
    await page.getByRole('button', { name: 'Language de' }).click()
    t.equal(await shows('Museum 1249'), 50)
    await page.getByRole('link', { name: 'Zurück' }).click()
    t.equal(await shows('Museum 1100'), 100)
    await page.getByRole('link', { name: 'Erste Seite' }).click()
    t.equal(await shows('Museum 1000'), 100)
  })
}
