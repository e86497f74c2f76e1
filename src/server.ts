// Imported first, because it has no effect after the first garbage collection.
import './serving/tick-object.ts'
import { buildApp } from './app.ts'
import { readConfig } from './config.ts'
import { endInOrder } from './serving/end-in-order.ts'
import { serveHandedConnections } from './serving/handed-connections.ts'
import { lameDuck } from './serving/limits.ts'
import { loggerOptions } from './logging.ts'
import { reasonOf, StartError } from './errors/start-error.ts'

try {
  const config = readConfig(process.env, '.env')
  const app = await buildApp({ config, logger: loggerOptions(config.logLevel, process.stdout.isTTY), lameDuck })
  // npm does not forward SIGHUP and cannot forward SIGKILL. Its script sets PARENT_PID, so the server ends with npm.
  const { PARENT_PID, CONNECTIONS } = process.env
  endInOrder(app, { parent: PARENT_PID === undefined ? undefined : Number(PARENT_PID) })
  const serving =
    CONNECTIONS === 'handed' ? serveHandedConnections(app) : app.listen({ port: config.port, host: config.host })
  await serving.catch(async (error: Error) => {
    await app.close()
    throw new StartError(`HOST and PORT cannot be used: ${reasonOf(error)}.`, { cause: error })
  })
} catch (error) {
  console.error(error)
  process.exit(1)
}
