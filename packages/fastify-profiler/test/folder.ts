import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Files and folders by their name. */
interface Content {
  [name: string]: string | Content
}

// Removed at the end, since applications still write to their folders while they close.
const scratch = mkdtempSync(join(tmpdir(), 'fastify-profiler-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

/** Makes a folder for a test alone. That of t.testdir() is named after all files that share the process: too long. */
export function makeFolder(content: Content = {}): string {
  const folder = mkdtempSync(join(scratch, 'test-'))
  fill(folder, content)
  return folder
}

function fill(folder: string, content: Content): void {
  for (const [name, value] of Object.entries(content)) {
    const path = join(folder, name)
    if (typeof value === 'string') writeFileSync(path, value)
    else {
      mkdirSync(path)
      fill(path, value)
    }
  }
}
