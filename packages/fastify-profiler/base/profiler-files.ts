import { dirname, join, sep } from 'node:path'

const folder = dirname(import.meta.dirname) + sep
const tests = join(folder, 'test') + sep

/** Whether a file is the profiler's own, which in a workspace is not below node_modules. */
export function isProfilerFile(file: string): boolean {
  return file.startsWith(folder) && !file.startsWith(tests)
}
