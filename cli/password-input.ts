import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { Writable } from 'node:stream'
import { Type } from 'typebox'
import { users } from '../src/records/kinds.ts'
import { CommandError, type Terminal } from './command.ts'
import { isTerminal } from './is-terminal.ts'
import { readFields } from './record-fields.ts'

const schema = Type.Pick(users.create, ['password'])

/**
 * Asks for a password twice without echoing it, or reads the first line of a pipe. A password is never an argument,
 * because other users can see those and the shell stores them.
 * @returns the password as a field of a user
 * @throws {CommandError} if the passwords differ, the password is invalid, or input ends
 */
export async function readPassword(terminal: Terminal): Promise<Record<string, unknown>> {
  return isTerminal(terminal.input) ? await askTwice(terminal) : fieldsOf(firstLine(await text(terminal.input)))
}

function fieldsOf(password: string): Record<string, unknown> {
  return readFields(schema, { password })
}

function firstLine(text: string): string {
  return text.replace(/\r?\n[^]*/, '')
}

async function askTwice(terminal: Terminal): Promise<Record<string, unknown>> {
  const silent = new Writable({
    write(_chunk, _encoding, done) {
      done()
    },
  })
  const prompt = createInterface({ input: terminal.input, output: silent, terminal: true })
  const lines: AsyncIterator<string, unknown> = prompt[Symbol.asyncIterator]()
  const ask = async (question: string) => {
    terminal.errors.write(question)
    const line = await lines.next()
    terminal.errors.write('\n')
    // Ctrl-C or Ctrl-D
    if (line.done === true) throw new CommandError('Nothing was changed.')
    return line.value
  }
  try {
    const password = await ask('Password: ')
    // Before the repetition, which would be in vain.
    const fields = fieldsOf(password)
    if ((await ask('Repeat the password: ')) !== password) throw new CommandError('The passwords do not match.')
    return fields
  } finally {
    prompt.close()
  }
}
