// node --import fastify-profiler/register app.js profiles every Fastify application of the process.
import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { adopt } from './flag.ts'

// Fastify publishes this at the end of its constructor, before any code of the application.
subscribe('fastify.initialization', message => {
  if (isInitialization(message)) adopt(message.fastify)
})

function isInitialization(message: unknown): message is { fastify: FastifyInstance } {
  return typeof message === 'object' && message !== null && 'fastify' in message
}
