import type { FastifyInstance } from 'fastify'
import { isFunction } from '../base/foreign-value.ts'
import { childrenOf, hooksOf, type Hooks } from './internals.ts'
import { unaware } from './trace-routes.ts'
import type { WatchedApplication } from './watched-application.ts'

/**
 * Registers the contexts of the profiler's pages so that the application's onRoute, onRegister and preClose hooks are
 * not called for them. This changes Fastify's internals: in a version that keeps hooks elsewhere, the hooks are called.
 */
export function registerUnnoticed(app: FastifyInstance, application: WatchedApplication, register: () => void): void {
  const earlier = childrenOf(app)
  const restores = hooksOf(app).map(hooks => setAside(hooks, application))
  register()
  app.after(() => {
    for (const restore of restores) restore()
    for (const context of childrenOf(app)) {
      if (!earlier.includes(context)) for (const hooks of hooksOf(context)) refusePreClose(hooks)
    }
  })
}

/** @returns a function that puts the onRegister hooks back */
function setAside(hooks: Hooks, application: WatchedApplication): () => void {
  const { onRegister, onRoute } = hooks
  if (!Array.isArray(onRegister) || !Array.isArray(onRoute)) return () => {}
  hooks.onRoute = onRoute.filter(isFunction).map(hook => unaware(hook, application))
  // No other context is made until the profiler's are.
  hooks.onRegister = []
  return () => {
    hooks.onRegister = [onRegister, hooks.onRegister].flat()
  }
}

/** Fastify up to 5.12.0 adds preClose hooks to contexts that exist already. It has added the profiler's own by then. */
function refusePreClose(hooks: Hooks): void {
  const { add } = hooks
  hooks.add = function (name, hook) {
    if (name !== 'preClose') add.call(this, name, hook)
  }
}
