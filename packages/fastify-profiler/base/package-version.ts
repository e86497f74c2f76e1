import { readFileSync } from 'node:fs'

const manifest = readFileSync(new URL(import.meta.resolve('fastify-profiler/package.json')), 'utf8')

/** The version of this copy of the package. */
export const packageVersion = /"version": "(.*)"/.exec(manifest)?.[1] ?? ''
