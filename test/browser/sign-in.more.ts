import { type BrowserContext, chromium, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { addLicense, addUser, build, openTestDatabase, testPassword } from '../support/site.ts'
import { makeFolder } from '../support/folder.ts'
import { launchOptions, testInChromium } from './chromium.ts'
import { lookAt } from './look-at.ts'

await testInChromium('signing in with a browser', testInBrowser)

async function testInBrowser(): Promise<void> {
  const database = await openTestDatabase(t)
  const license = await addLicense(database, {
    domain: 'depot.localhost',
    name: 'Portico behind the Rope',
    protected: true,
    museums: ['The Depot'],
  })
  await addUser(database, { email: 'member@museum.test', licenses: [license] })
  const app = await build(t, { database })
  const origin = (await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'depot.localhost')

  /** A browser whose profile is in a folder, so that a second one can reuse it. */
  async function start(t: Test, profile: string): Promise<{ context: BrowserContext; page: Page }> {
    const context = await chromium.launchPersistentContext(profile, { ...launchOptions, javaScriptEnabled: false })
    t.teardown(() => context.close())
    return { context, page: await context.newPage() }
  }

  async function signIn(page: Page, email: string, remember: boolean, password = testPassword): Promise<void> {
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByLabel('Stay signed in').setChecked(remember)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  t.test(
    'a protected site asks to sign in, "remember me" survives a restart of the browser, and signing out ends it',
    async t => {
      const profile = makeFolder(t)
      const first = await start(t, profile)
      await first.page.goto(`${origin}/?_locale=en`)
      t.equal(first.page.url(), `${origin}/login?next=%2F%3F_locale%3Den`)
      await lookAt(t, first.page, 'login')

      await signIn(first.page, 'member@museum.test', true, 'a wrong password')
      t.equal(await first.page.getByRole('alert').textContent(), 'The e-mail address or the password is wrong.')
      t.equal(await first.page.getByLabel('E-mail address').inputValue(), 'member@museum.test')
      t.equal(await first.page.getByLabel('Password').inputValue(), '')
      t.ok(await first.page.getByLabel('Stay signed in').isChecked())
      await lookAt(t, first.page, 'login-refused')

      await signIn(first.page, 'member@museum.test', true)
      t.equal(first.page.url(), `${origin}/?_locale=en`)
      t.ok(await first.page.getByText('The Depot').isVisible())
      t.ok(await first.page.getByText('member@museum.test').isVisible())
      await lookAt(t, first.page, 'signed-in')
      await first.context.close()

      const second = await start(t, profile)
      await second.page.goto(origin)
      t.ok(await second.page.getByText('The Depot').isVisible())
      await second.page.getByRole('button', { name: 'Sign out' }).click()
      t.equal(second.page.url(), `${origin}/login?next=%2F`)
      await second.page.goto(origin)
      t.equal(second.page.url(), `${origin}/login?next=%2F`)
      await second.context.close()

      const third = await start(t, profile)
      await third.page.goto(origin)
      t.equal(third.page.url(), `${origin}/login?next=%2F`)
    },
  )
}
