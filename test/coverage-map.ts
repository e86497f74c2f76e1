import { readdirSync } from 'node:fs'

const sources = ['src', 'plugins', 'routes'].flatMap(folder =>
  readdirSync(`dist/${folder}`, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.js')).map(file => `dist/${folder}/${file}`))

/** What a test file's coverage is counted of: all that is shipped, and nothing of the tests. */
export default function coverageMap (): string[] {
  return sources
}
