import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const profiler = 'packages/fastify-profiler/dist'
const roof = ['dist/app.js', 'dist/index.js', 'dist/server.js']
const sources = ['dist/cli', 'dist/src', 'dist/plugins', 'dist/routes', profiler]
  .flatMap(folder => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name)))
  .filter(file => file.endsWith('.js') && !file.startsWith(`${profiler}/test/`))
  .concat(roof)

/** The files whose coverage counts: everything shipped, but no tests. */
export default function coverageMap(): string[] {
  return sources
}
