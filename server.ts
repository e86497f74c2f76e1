import { startServer } from './cli/start-server.ts'

await startServer()
