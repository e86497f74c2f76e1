// Imported first, because it has no effect after the first garbage collection.
import '../src/serving/tick-object.ts'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Additions, buildApp } from '../app.ts'
import { readConfig, readVariables } from '../src/config.ts'
import { greet } from '../src/greeting.ts'
import { endInOrder } from '../src/serving/end-in-order.ts'
import { serveHandedConnections } from '../src/serving/handed-connections.ts'
import { lameDuck } from '../src/serving/limits.ts'
import { loggerOptions } from '../src/logging.ts'
import { reasonOf, StartError } from '../src/errors/start-error.ts'
import { readSite } from './site.ts'
import { tellCreation } from './terminal.ts'

/**
 * Runs the server, with what the site in the current folder adds, until the process gets a signal to end. Variables and
 * a file `.env` configure it. If it cannot start, prints why and exits.
 */
export async function startServer(): Promise<void> {
  try {
    await start(await readSite())
  } catch (error) {
    console.error(error)
    process.exit(1)
  }
}

async function start(additions: Additions): Promise<void> {
  const { stdout, stderr, env } = process
  const config = readConfig(env, '.env')
  await assertOwnAddress(config.host)
  const app = await buildApp({
    ...additions,
    config,
    variables: readVariables(env, '.env'),
    logger: loggerOptions(config.logLevel, stdout),
    lameDuck,
    onCreation: () => tellCreation(stderr, config.dataDir),
  })
  // npm does not forward SIGHUP and cannot forward SIGKILL. Its script sets PARENT_PID, so the server ends with npm.
  const { PARENT_PID, CONNECTIONS, RESTARTED } = env
  const end = endInOrder(app, { parent: PARENT_PID === undefined ? undefined : Number(PARENT_PID) })
  const { availability, isShared } = app.database
  if (!isShared) {
    // An embedded database does not come back. A new process opens it again.
    availability.once('lost', () => {
      process.exitCode = 1
      end()
    })
  }
  const serving =
    CONNECTIONS === 'handed' ? serveHandedConnections(app) : app.listen({ port: config.port, host: config.host })
  await serving.catch(async (error: Error) => {
    await app.close()
    throw new StartError(`HOST and PORT cannot be used: ${reasonOf(error)}.`, { cause: error })
  })
  const [address] = app.addresses()
  const port = typeof address === 'object' ? address.port : config.port
  await greet(app, { host: config.host, port, isRestart: RESTARTED === '1' }, stdout)
}

/** Listens for a moment, on any port. A wrong HOST is told before an embedded database is created. */
async function assertOwnAddress(host: string): Promise<void> {
  const server = createServer().listen({ host, port: 0 })
  await once(server, 'listening').catch((error: unknown) => {
    throw new StartError(`HOST cannot be used: ${reasonOf(error)}.`, { cause: error })
  })
  server.close()
  await once(server, 'close')
}
