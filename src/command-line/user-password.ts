import { findAccount } from '../sign-in/account.ts'
import { hashPassword, shortestPassword } from '../sign-in/passwords.ts'
import { type Command, CommandError, readWords } from './command.ts'
import { readPassword } from './password-input.ts'
import { withDatabase } from './with-database.ts'

export const userPassword: Command = {
  usage: 'user password <email>',
  summary: 'Changes a password, which ends all of the user\'s sessions.',
  details: `The password, of ${shortestPassword} characters or more, is asked for, or piped in: user password a@b.example < file`,
  async run (words, terminal) {
    const { operands: [email = ''] } = readWords(words, ['email'], {})
    await withDatabase(terminal, async ({ db }) => {
      const account = await findAccount(db, email)
      if (account === undefined) throw new CommandError(`There is no user ${email}.`)
      const passwordHash = await hashPassword(await readPassword(terminal))
      await db.updateTable('users').set({ password_hash: passwordHash }).where('id', '=', account.id).execute()
    })
    terminal.output.write(`Changed the password of ${email}.\n`)
  }
}
