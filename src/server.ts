import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { readConfig } from './config.ts'
import { loggerOptions } from './logging.ts'
import { StartError } from './start-error.ts'

/** In milliseconds: what requests that are under way have to end, less than the 30 s that process managers give. */
const grace = 25_000

try {
  const config = readConfig(process.env, '.env')
  const app = await buildApp({ config, logger: loggerOptions(config.logLevel, process.stdout.isTTY) })
  closeWithGrace({ delay: grace, logger: app.log }, () => app.close())
  await app.listen({ port: config.port, host: config.host }).catch(async (error: Error) => {
    await app.close()
    throw new StartError(`HOST and PORT cannot be used: ${error.message}.`, { cause: error })
  })
} catch (error) {
  console.error(error instanceof StartError ? `portico: ${error.message}` : error)
  process.exit(1)
}
