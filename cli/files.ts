import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { lstat, open, rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { reasonOf } from '../src/errors/start-error.ts'
import { CommandError } from './command.ts'
import type { Terminal } from './terminal.ts'

/**
 * Opens a file, or standard input if the file is "-".
 * @returns its chunks, and how much of them has been read, from 0 to 1, or undefined if the size is unknown
 * @throws {CommandError} if the file cannot be read
 */
export async function openInput(file: string, { input }: Pick<Terminal, 'input'>) {
  if (file === '-') return { chunks: input, part: () => undefined }
  try {
    const { size } = await stat(file)
    const chunks = createReadStream(file)
    await once(chunks, 'readable')
    return { chunks, part: () => size && chunks.bytesRead / size }
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${reasonOf(error)}.`, { cause: error })
  }
}

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP']

const diskFailures = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']

/**
 * Writes a file that only this user can read. If anything fails, the file is as it was before.
 * @param isReplaced whether an existing file is replaced; otherwise it is refused
 * @throws {CommandError} if the file exists or cannot be written
 */
export async function writePrivateFile(
  path: string,
  chunks: AsyncIterable<string>,
  isReplaced: boolean,
): Promise<void> {
  const isThere = await isFile(path)
  if (isThere && !isReplaced) throw new CommandError(`${path} exists already. --force replaces it.`)
  // Not under its own name, because a command that is killed would leave half an export there.
  const written = `${path}.${process.pid}`
  const refuse = (error: unknown) => {
    throw new CommandError(`${path} cannot be written: ${reasonOf(error)}.`, { cause: error })
  }
  const file = await open(written, 'wx', 0o600).catch(refuse)
  const interruption = new AbortController()
  const interrupt = () => interruption.abort()
  for (const signal of endingSignals) process.once(signal, interrupt)
  try {
    await pipeline(chunks, file.createWriteStream({ flush: true }), { signal: interruption.signal })
    if (!isReplaced && (await isFile(path))) throw new CommandError(`${path} exists by now. --force replaces it.`)
    await rename(written, path)
  } catch (error) {
    await rm(written)
    if (interruption.signal.aborted) {
      throw new CommandError(`${path} was not written, because the command was interrupted.`, { cause: error })
    }
    throw isDiskFailure(error) ? refuse(error) : error
  } finally {
    for (const signal of endingSignals) process.off(signal, interrupt)
  }
}

/** @throws {CommandError} if the path is there and not a file, such as a folder, a link or a device */
async function isFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  if (found?.isFile() === false) throw new CommandError(`${path} is not a file.`)
  return found !== undefined
}

function isDiskFailure(error: unknown): boolean {
  return error instanceof Error && 'code' in error && diskFailures.includes(String(error.code))
}
