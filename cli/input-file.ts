import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { reasonOf } from '../src/errors/start-error.ts'
import { CommandError, type Terminal } from './command.ts'

/** The input of a command. */
export interface Input {
  chunks: AsyncIterable<Buffer | string>
  /** How much has been read, from 0 to 1, or undefined if the size is unknown. */
  part: () => number | undefined
}

/**
 * Opens a file, or standard input if the file is "-".
 * @throws {CommandError} if the file cannot be read
 */
export async function openInput(file: string, { input }: Pick<Terminal, 'input'>): Promise<Input> {
  let bytes = 0
  const { stream, size } = await open()
  return { chunks: counted(), part: () => size && bytes / size }

  async function* counted() {
    for await (const chunk of stream) {
      bytes += Buffer.byteLength(chunk)
      yield chunk
    }
  }

  async function open(): Promise<{ stream: AsyncIterable<Buffer | string>; size: number | undefined }> {
    if (file === '-') return { stream: input, size: undefined }
    try {
      const { size } = await stat(file)
      const stream = createReadStream(file)
      await once(stream, 'readable')
      return { stream, size }
    } catch (error) {
      throw new CommandError(`${file} cannot be read: ${reasonOf(error)}.`, { cause: error })
    }
  }
}
