import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

declare global {
  interface Window {
    axe: { run(options: RunOptions): Promise<AxeResults> }
  }
}

/** Tests that axe finds no violations on a page in light and dark, with everything unfolded and with the toolbar. */
export async function testAccessibility(t: Test, page: Page, name: string): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
  })
  // Evaluated rather than added as a script, which the page's policy would block.
  await page.evaluate(await readFile(axe, 'utf8'))
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // Only the colours differ.
    const options: RunOptions = {
      resultTypes: ['violations'],
      ...(colorScheme === 'dark' && { runOnly: ['color-contrast'] }),
    }
    const { violations } = await page.evaluate(options => window.axe.run(options), options)
    const said = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`),
    )
    t.strictSame(said, [], `${name}, ${colorScheme}`)
  }
}
