import { startServer } from 'portico/server'
import { site } from './site.js'

await startServer(site)
