import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { readConfig } from './config.ts'
import { grace, lameDuck } from './limits.ts'
import { loggerOptions } from './logging.ts'
import { reasonOf, StartError } from './start-error.ts'

try {
  const config = readConfig(process.env, '.env')
  const app = await buildApp({ config, logger: loggerOptions(config.logLevel, process.stdout.isTTY), lameDuck })
  const { close } = closeWithGrace({ delay: grace, logger: app.log, skip: ['SIGINT', 'SIGTERM'] }, () => app.close())
  // A terminal's Ctrl-C comes twice, from the terminal and from npm: the second is no impatience.
  let isClosing = false
  const closeOnce = () => {
    if (!isClosing) close()
    isClosing = true
  }
  process.on('SIGINT', closeOnce).on('SIGTERM', closeOnce)
  await app.listen({ port: config.port, host: config.host }).catch(async (error: Error) => {
    await app.close()
    throw new StartError(`HOST and PORT cannot be used: ${reasonOf(error)}.`, { cause: error })
  })
} catch (error) {
  console.error(error)
  process.exit(1)
}
