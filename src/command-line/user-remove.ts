import { findAccount } from '../sign-in/account.ts'
import { type Command, CommandError, readWords } from './command.ts'
import { withDatabase } from './with-database.ts'

export const userRemove: Command = {
  usage: 'user remove <email>',
  summary: 'Removes a user, which ends all of their sessions.',
  details: '',
  async run (words, terminal) {
    const { operands: [email = ''] } = readWords(words, ['email'], {})
    await withDatabase(terminal, async ({ db }) => {
      const account = await findAccount(db, email)
      if (account === undefined) throw new CommandError(`There is no user ${email}.`)
      await db.deleteFrom('users').where('id', '=', account.id).execute()
    })
    terminal.output.write(`Removed ${email}.\n`)
  }
}
