import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A test, or anything else with a teardown. */
export interface Closing {
  teardown: (close: () => unknown) => void
}

/** Makes a folder that is removed after the test. Its path fits a socket, unlike that of t.testdir(). */
export function makeFolder(t: Closing): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
