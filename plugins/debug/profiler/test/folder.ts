import type { Test } from 'tap'

/** Makes a folder that is removed after the test. @param content files by their name */
export function makeFolder(t: Test, content: Parameters<Test['testdir']>[0] = {}): string {
  // Without an earlier teardown, tap would remove the folder before what the test opens later is closed.
  t.teardown(() => {})
  return t.testdir(content)
}
