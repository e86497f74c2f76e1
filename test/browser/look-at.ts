import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

const screenshots = resolve('.tap/screenshots')

/** Takes screenshots of a page, narrow and wide, light and dark, and tests that it does not scroll sideways. */
export async function lookAt(t: Test, page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true })
  for (const width of [400, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      t.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        `${name} fits ${width} px, ${colorScheme}`,
      )
      await page.screenshot({ path: `${screenshots}/${name}-${width}-${colorScheme}.png`, fullPage: true })
    }
  }
}
