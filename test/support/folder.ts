import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A test, or what closes things later than one. */
export interface Closing {
  teardown: (close: () => unknown) => void
}

/** A folder for a test, gone after it, whose path is short enough for a socket: that of t.testdir() holds the test's name. */
export function makeFolder(t: Closing): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
