import type { Page } from 'playwright-core'
import t from 'tap'
import { build } from '../support/build.ts'
import { addLicense, addUser, testPassword } from '../support/records.ts'
import { keptOpen, runCommand } from '../support/run-command.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { testAccessibility } from './accessibility.ts'
import { launch, testInChromium } from './chromium.ts'
import { lookAt } from './look-at.ts'

await testInChromium('passwords in a browser', testInBrowser)

async function testInBrowser(): Promise<void> {
  const database = await openTestDatabase(t)
  await addLicense(database, { domain: 'depot.localhost', name: 'The Depot', languages: ['en', 'de', 'fr'] })
  const app = await build(t, { database })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const origin = `http://depot.localhost:${port}`
  const browser = await launch(t)

  async function start(locale = 'en'): Promise<Page> {
    const context = await browser.newContext({ locale })
    t.teardown(() => context.close())
    return await context.newPage()
  }

  /** Looks at a page in all sizes, and tests what axe says of it. */
  async function judge(page: Page, name: string): Promise<void> {
    await lookAt(t, page, name)
    await testAccessibility(t, page, name)
  }

  async function signIn(page: Page, email: string, password: string): Promise<void> {
    await page.goto(`${origin}/login`)
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    t.equal(page.url(), `${origin}/`)
  }

  async function choose(page: Page, password: string, repeated = password): Promise<void> {
    await page.getByLabel('New password', { exact: true }).fill(password)
    await page.getByLabel('Repeat the new password').fill(repeated)
    await page.getByRole('button', { name: 'Change password' }).click()
  }

  async function linkFor(email: string): Promise<string> {
    const words = ['user', 'password', email, '--link', '--host', `http://depot.localhost:${port}`]
    const { output } = await runCommand(words, { openDatabase: keptOpen(database) })
    return output.trim()
  }

  t.test('a user changes their password, stays signed in there, and is signed out elsewhere', async t => {
    const email = 'a-rather-long-address@collections.national-museum-of-antiquities.test'
    await addUser(database, { email })
    const [page, elsewhere] = [await start(), await start()]
    await signIn(elsewhere, email, testPassword)
    await signIn(page, email, testPassword)
    await page.getByRole('link', { name: 'Change password' }).click()
    await page.locator(':focus').and(page.getByLabel('Current password')).waitFor()
    await judge(page, 'password')

    await page.getByLabel('Current password').fill('a wrong password')
    await choose(page, 'five doors and an arch')
    t.equal(await page.getByRole('alert').textContent(), 'The current password is wrong.')
    await judge(page, 'password-refused')

    await page.getByLabel('Current password').fill(testPassword)
    await choose(page, 'five doors and an arch')
    await page.getByRole('heading', { name: 'Your password has been changed' }).waitFor()
    await judge(page, 'password-changed')
    await page.getByRole('link', { name: 'Go to the front page' }).click()
    await page.getByText(email).waitFor()
    await elsewhere.reload()
    t.equal(await elsewhere.getByText(email).count(), 0)
    await signIn(elsewhere, email, 'five doors and an arch')
  })

  t.test('a user chooses a password by a link, once', async t => {
    const email = 'forgetful@museum.test'
    await addUser(database, { email })
    const link = await linkFor(email)
    const page = await start()
    await page.goto(link)
    await page
      .locator(':focus')
      .and(page.getByLabel('New password', { exact: true }))
      .waitFor()
    await judge(page, 'reset')

    await choose(page, 'six doors and an arch', 'six doors and an ark')
    t.equal(await page.getByRole('alert').textContent(), 'The new passwords are not the same.')
    await judge(page, 'reset-refused')

    await choose(page, 'six doors and an arch')
    await page.getByRole('heading', { name: 'Your password has been changed' }).waitFor()
    await judge(page, 'reset-done')

    await page.goto(link)
    await page.getByRole('heading', { name: 'This link does not work any more' }).waitFor()
    await judge(page, 'reset-used')
    await signIn(page, email, 'six doors and an arch')
  })

  t.test('the answer to a form has the language of the form', async t => {
    const email = 'french@museum.test'
    await addUser(database, { email })
    const page = await start()
    await page.goto(`${await linkFor(email)}&_locale=fr`)
    await page.getByLabel('Nouveau mot de passe', { exact: true }).fill('sept portes et un arc')
    await page.getByLabel('Répétez le nouveau mot de passe').fill('sept portes')
    await page.getByRole('button').click()
    t.equal(await page.getByRole('alert').textContent(), 'Les nouveaux mots de passe ne sont pas identiques.')
  })
}
