import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// Only migrations need the schema engine, which prisma would download from outside the registry.
const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath }
const prisma = fileURLToPath(import.meta.resolve('prisma/package.json')).replace(/package\.json$/, 'build/index.js')
execFileSync(process.execPath, [prisma, 'generate', '--schema', 'schema.prisma'], { cwd: import.meta.dirname, env })
