import type { Database } from '../../src/database/database.ts'
import { heardOf } from './site.ts'
import { commandsOn } from './run-command.ts'

let tokens = 0

/** Adds an API token, as people do. @returns the token */
export async function addToken(database: Database, email: string, options = ''): Promise<string> {
  return (await tokenCommand(database, `add --user ${email} --name "token ${tokens++}" ${options}`)).trimEnd()
}

/** Runs a command on tokens and waits until its changes have been heard. @returns its output */
export async function tokenCommand(database: Database, words: string): Promise<string> {
  let output = ''
  await heardOf(database, async () => {
    output = await commandsOn(database).print(`token ${words}`)
  })
  return output
}
