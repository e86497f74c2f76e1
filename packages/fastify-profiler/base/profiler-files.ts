import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = dirname(fileURLToPath(import.meta.resolve('fastify-profiler/package.json'))) + sep
const notShipped = ['test', 'dist/test', 'examples'].map(name => join(folder, name) + sep)

/**
 * Whether a file is the profiler's own: its wrappers are on all stacks. In a workspace, it is not below node_modules,
 * and with --enable-source-maps stacks name its sources.
 */
export function isProfilerFile(file: string): boolean {
  return file.startsWith(folder) && !notShipped.some(other => file.startsWith(other))
}
