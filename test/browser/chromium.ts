import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import t, { type Test } from 'tap'

/** Where Debian installs it, unless CHROMIUM names another. */
const executablePath = process.env['CHROMIUM'] || '/usr/bin/chromium'
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** How the tests start a browser. */
export const launchOptions = { executablePath, args }

/** Runs tests that need a browser, or skips them with a reason. */
export async function testInChromium(name: string, tests: () => Promise<void>): Promise<void> {
  if (existsSync(executablePath)) await tests()
  else t.test(name, { skip: `There is no Chromium at ${executablePath}: set CHROMIUM to where it is.` }, () => {})
}

/** Launches a browser that is closed after the test. */
export async function launch(t: Test): Promise<Browser> {
  const browser = await chromium.launch(launchOptions)
  t.teardown(() => browser.close())
  return browser
}
