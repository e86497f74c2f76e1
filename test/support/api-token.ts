import type { Database } from '../../src/database/database.ts'
import { heardOf } from './heard.ts'
import { keptOpen, runCommand } from './run-command.ts'

/** Adds an API token, as people do. @returns the token */
export async function addToken(database: Database, email: string, ...options: string[]): Promise<string> {
  const name = `token ${Math.random()}`
  return (await tokenCommand(database, 'add', email, '--name', name, ...options)).trimEnd()
}

/** Runs a command on tokens and waits until its changes have been heard. @returns its output */
export async function tokenCommand(database: Database, ...words: string[]): Promise<string> {
  let output = ''
  await heardOf(database, async () => {
    const ran = await runCommand(['token', ...words], { openDatabase: keptOpen(database) })
    if (ran.code !== 0) throw new Error(ran.errors)
    output = ran.output
  })
  return output
}
